"""Tests of fields, filters and patterns."""
