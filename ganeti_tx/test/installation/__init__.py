"""Tests of installation."""
