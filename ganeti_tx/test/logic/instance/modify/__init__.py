"""Tests of changing instances."""
