"""Tests of the programs beside the commands."""
