"""Tests of transfers."""
