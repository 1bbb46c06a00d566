"""Tests of the Remote API."""
