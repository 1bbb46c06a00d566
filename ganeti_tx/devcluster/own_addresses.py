"""The IPv6 addresses of a devcluster. Of IPv4 every machine has a whole loopback network; of IPv6 it has one address."""

import subprocess
from collections.abc import Iterator
from socket import AF_INET6

from ganeti_tx.devcluster.error import DevclusterError
from ganeti_tx.devcluster.layout import Layout
from ganeti_tx.model.ip_family import family_of
from ganeti_tx.runtime.addresses import is_own_address

INTERFACE = "lo"
#: Seconds that the program may take.
LIMIT = 20


def take(layout: Layout) -> None:
    """Put the nodes' addresses on the loopback interface; the cluster's own is its master's business.

    @raise DevclusterError: the system does not let us.
    """
    for address in missing(layout):
        done = change("add", address, "nodad")
        if done.returncode != 0:
            raise DevclusterError(
                f"cannot put {address} on {INTERFACE}: {done.stderr.strip()}; a devcluster with IPv6 needs root, and IPv6"
            )


def missing(layout: Layout) -> Iterator[str]:
    """Those that this machine does not have."""
    return (node.address for node in layout.nodes if not is_own_address(node.address))


def give_up(layout: Layout) -> None:
    """Take them away again, and the cluster's, if there are any."""
    for address in (*(node.address for node in layout.nodes), layout.master_address):
        if family_of(address) == AF_INET6 and is_own_address(address):
            change("del", address)


def change(verb: str, address: str, *more: str) -> "subprocess.CompletedProcess[str]":
    """One command."""
    argv = ["ip", "-6", "address", verb, f"{address}/128", "dev", INTERFACE, *more]
    return subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT, check=False)
