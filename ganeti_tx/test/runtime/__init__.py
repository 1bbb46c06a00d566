"""Tests of the operating system behind interfaces."""
