"""Bringing an instance to another node that reaches its disks: where to, what is checked, and how."""
