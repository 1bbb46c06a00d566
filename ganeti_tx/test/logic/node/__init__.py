"""Tests of the units about nodes."""
