"""The monitoring daemon."""
