"""Contracts that a fake and the real thing both keep."""
