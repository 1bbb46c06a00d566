"""Tests of the logic of disks."""
