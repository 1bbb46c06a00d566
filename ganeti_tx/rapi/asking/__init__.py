"""Asking LUXI: equal questions once, and answers that are remembered but never old."""
