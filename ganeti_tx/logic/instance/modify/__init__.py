"""Changing an instance."""
