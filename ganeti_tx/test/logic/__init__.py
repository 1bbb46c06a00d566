"""Tests of logical units."""
