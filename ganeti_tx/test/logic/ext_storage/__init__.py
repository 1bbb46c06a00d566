"""Tests of the units about external storage."""
