"""Tests of `move-instance`."""
