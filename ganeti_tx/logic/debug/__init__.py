"""Logical units for tests of the job queue."""
