"""Machines that are started from an image to do work on an instance."""
