"""Tests of the OS interface."""
