"""Tests of `burnin`."""
