"""Hypervisors."""
