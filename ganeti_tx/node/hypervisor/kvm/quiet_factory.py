"""Connections to sockets of QEMU come and go; the log need not tell."""

from twisted.internet.protocol import Factory


class QuietFactory(Factory):
    """Makes protocols, and says nothing of it."""

    noisy = False
