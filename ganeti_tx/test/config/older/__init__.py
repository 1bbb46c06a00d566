"""Configurations of older versions."""
