"""Logical units of instances."""
