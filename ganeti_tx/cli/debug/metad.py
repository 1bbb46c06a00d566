"""gnt-debug metad."""

from ganeti_tx.cli.debug.daemon_requests import DaemonRequests, Request
from ganeti_tx.cli.options import TABLE, Argument, Command
from ganeti_tx.luxi.client import Client
from ganeti_tx.luxi.daemon import Daemon

SOCKET = "/var/run/ganeti/socket/ganeti-metad"
DAEMON = Daemon("the metadata daemon (ganeti-metad)")


def echo(client: Client, text: str) -> list[str]:
    """It gives back what it gets."""
    return [f"Answer: {client.call('Echo', [text])}"]


METAD = Command(
    DaemonRequests(SOCKET, DAEMON, {"echo": Request(1, echo)}).send,
    (Argument("unknown", 1),),
    prints=TABLE,
    manual="\nRequests: echo TEXT.\n",
)
