"""Tests of what comes before the daemons."""
