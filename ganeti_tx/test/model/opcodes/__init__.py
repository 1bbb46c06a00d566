"""Tests of the opcodes."""
