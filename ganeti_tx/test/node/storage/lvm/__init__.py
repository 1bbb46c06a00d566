"""Tests of logical volumes."""
