"""The metadata daemon."""
