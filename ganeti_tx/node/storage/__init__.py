"""Disk templates behind one interface."""
