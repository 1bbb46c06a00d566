"""Tests of the HTTP client of node calls."""
