"""Tests of the units about operating systems."""
