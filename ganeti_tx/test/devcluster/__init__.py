"""Tests of the devcluster that need no processes."""
