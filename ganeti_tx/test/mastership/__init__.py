"""Tests of what a node knows of its master."""
