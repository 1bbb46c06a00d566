"""Logical units about external storage."""
