"""Copies of the job queue on the master candidates."""
