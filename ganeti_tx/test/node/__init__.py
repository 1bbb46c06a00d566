"""Tests of the node daemon."""
