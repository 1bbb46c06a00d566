"""Tests of the disk templates."""
