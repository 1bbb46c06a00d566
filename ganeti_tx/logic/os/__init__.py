"""Logical units of OS definitions."""
