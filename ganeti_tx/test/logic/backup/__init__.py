"""Tests of the units about exports."""
