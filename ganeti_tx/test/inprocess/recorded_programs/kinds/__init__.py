"""Kinds of differences, and how each is taken out of what was printed."""
