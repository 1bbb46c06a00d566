"""Which IP addresses are this machine's."""

import socket


def is_own_address(address: str) -> bool:
    """Whether a socket can be bound to it, which also holds for all of 127.0.0.0/8."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
        return True
