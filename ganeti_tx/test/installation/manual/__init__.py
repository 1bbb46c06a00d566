"""Tests of the manual pages."""
