"""Tests of disks in files."""
