"""Tests of the gnt-* commands."""
