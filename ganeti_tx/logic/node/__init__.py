"""Logical units of nodes."""
