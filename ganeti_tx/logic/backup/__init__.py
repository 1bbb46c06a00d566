"""Exports of instances."""
