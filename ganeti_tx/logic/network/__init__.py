"""Logical units of networks."""
