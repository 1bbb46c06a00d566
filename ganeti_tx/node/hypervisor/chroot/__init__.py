"""Instances below a changed root directory, started and stopped by a script of theirs."""
