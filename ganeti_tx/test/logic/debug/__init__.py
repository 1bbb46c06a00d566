"""Tests of the units for testing."""
