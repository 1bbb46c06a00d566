"""Tests of the lock table."""
