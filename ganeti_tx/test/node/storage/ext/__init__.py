"""Tests of volumes of external storage."""
