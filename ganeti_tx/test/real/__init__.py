"""Tests that need the reactor, sockets, processes or QEMU."""
