"""Tests of the units that act on instances."""
