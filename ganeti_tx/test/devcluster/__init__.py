"""Tests of the devcluster."""
