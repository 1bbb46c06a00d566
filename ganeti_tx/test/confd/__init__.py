"""Tests of confd."""
