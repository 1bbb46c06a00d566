"""Containers of LXC, by its programs."""
