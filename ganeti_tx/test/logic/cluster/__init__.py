"""Tests of the units about the cluster."""
