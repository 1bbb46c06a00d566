"""Fakes, each beside a contract."""
