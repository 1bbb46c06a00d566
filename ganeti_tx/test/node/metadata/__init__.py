"""Tests of what a node tells its instances."""
