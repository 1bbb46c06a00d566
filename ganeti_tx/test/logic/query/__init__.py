"""Tests of queries by jobs."""
