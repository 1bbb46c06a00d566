"""Tests of the units about networks."""
