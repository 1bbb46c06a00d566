"""Hypervisors behind one interface."""
