"""Tests of block devices that are there already."""
