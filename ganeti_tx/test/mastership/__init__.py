"""Tests of the master role."""
