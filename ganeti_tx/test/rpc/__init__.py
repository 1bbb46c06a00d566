"""Tests of node calls."""
