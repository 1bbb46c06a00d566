"""Tests of disks on volumes of Gluster."""
