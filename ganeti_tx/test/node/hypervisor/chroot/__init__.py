"""Tests of the driver of chroots."""
