"""Tests of LUXI: frames, messages, methods, clients and server."""
