"""Tests of luxid."""
