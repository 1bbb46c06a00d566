"""Logical units, one file an opcode."""
