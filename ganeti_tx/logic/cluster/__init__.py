"""Logical units of the cluster."""
