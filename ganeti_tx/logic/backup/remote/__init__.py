"""Instances on their way from one cluster to another."""
