"""Node groups."""
