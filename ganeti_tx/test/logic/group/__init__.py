"""Tests of node groups."""
