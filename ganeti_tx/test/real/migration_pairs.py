"""Keys of two nodes for migrations between them, made once for all tests of a process."""

import datetime
from functools import lru_cache

from ganeti_tx.node.hypervisor.interfaces import TlsPair
from ganeti_tx.runtime.certificates import Identity, transfer_identity

OLD, NEW = "node1.example.com", "node2.example.com"


@lru_cache
def identity(name: str) -> Identity:
    """A key with its certificate, as a node makes it."""
    return transfer_identity(name, datetime.timedelta(hours=1), datetime.datetime.now(datetime.UTC))


def pairs() -> tuple[TlsPair, TlsPair]:
    """For the node that sends, and the one that waits."""
    old, new = identity(OLD), identity(NEW)
    return TlsPair(old, new.certificate, NEW), TlsPair(new, old.certificate, OLD)
