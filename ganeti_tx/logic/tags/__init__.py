"""Logical units of tags."""
