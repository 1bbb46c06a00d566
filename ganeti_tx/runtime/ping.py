"""Whether a host answers at an address."""

import errno
import socket

from ganeti_tx.model.ip_address import parsed
from ganeti_tx.model.ip_family import family_of
from ganeti_tx.model.node_port import NODE_PORT

#: Seconds after which nobody is taken to be there.
LIMIT = 5.0
#: How a host that is up says no; a local firewall's refusal is none.
REFUSALS = frozenset({errno.ECONNREFUSED, errno.ECONNRESET})


def answers(address: str, limit: float = LIMIT) -> bool:
    """Whether somebody has the address; blocks for at most `limit` seconds.

    Of an address of the loopback network it cannot be told, as this machine has them all.
    """
    return not parsed(address).is_loopback and is_reached(address, limit)


def is_reached(address: str, limit: float = LIMIT) -> bool:
    """Whether a host answers, on whatever network, with a connection or by refusing one; blocks for at most `limit` seconds."""
    with socket.socket(family_of(address), socket.SOCK_STREAM) as probe:
        probe.settimeout(limit)
        try:
            probe.connect((address, NODE_PORT))
        except TimeoutError:
            return False
        except OSError as error:
            return error.errno in REFUSALS
    return True
