"""Tests of the template drbd."""
