"""Tests; mirrors the tree."""
