"""Tests of who becomes the master."""
