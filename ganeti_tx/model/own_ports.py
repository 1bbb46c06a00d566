"""The TCP ports of a node that this program has for itself, unless its daemons are told others, and those that it gives away."""

from collections.abc import Iterator, Mapping

from ganeti_tx.model.base import Params
from ganeti_tx.model.node_port import NODE_PORT

MOND_PORT = 1815
RAPI_PORT = 5080
#: From where to where those are that instances get, for their displays and for mirrored disks.
FIRST_PORT = 11000
LAST_PORT = 14999
DAEMONS: Mapping[object, str] = {NODE_PORT: "ganeti-noded", MOND_PORT: "ganeti-mond", RAPI_PORT: "ganeti-rapi"}


def not_for_migrations(hvparams: Params) -> Iterator[str]:
    """A line for a port at which no machine could be waited for, on some node or one day."""
    port = hvparams.get("migration_port")
    if port in DAEMONS:
        yield f"migration_port: {port} is that of {DAEMONS[port]}"
    if isinstance(port, int) and FIRST_PORT <= port <= LAST_PORT:
        yield f"migration_port: {port} is between {FIRST_PORT} and {LAST_PORT}, which displays and mirrored disks get"
