"""Tests of parameters."""
