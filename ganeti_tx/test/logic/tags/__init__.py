"""Tests of the units about tags."""
