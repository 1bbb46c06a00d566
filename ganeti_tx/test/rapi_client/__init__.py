"""Tests of the clients of the Remote API, without any network."""
