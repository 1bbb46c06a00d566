"""Disks in files below allowed directories."""
