"""The way to other nodes: the remote shell that the environment names, or SSH."""

import shlex
from collections.abc import Sequence

from ganeti_tx.cli.session import KNOWN_HOSTS, Session, rooted

#: Names what reaches other nodes in place of ssh, as in a devcluster.
_REMOTE_SHELL = "GANETI_REMOTE_SHELL"
DEFAULT_PORT = 22


def remote_argv(
    session: Session,
    node: str,
    command: Sequence[str],
    more: Sequence[str],
    port: int = DEFAULT_PORT,
    *,
    user: str = "root",
    address: str | None = None,
) -> list[str]:
    """The command that runs another one on a node.

    @param more: further arguments of ssh. @param address: where the node is asked for; by its name, if None.
    """  # fmt: skip
    if shell := session.environ.get(_REMOTE_SHELL):
        return [*shlex.split(shell), node, *command]
    trusted = trusting(session, node)
    return ["ssh", *trusted, f"-oPort={port}", *more, f"{user}@{address or node}", "--", shlex.join(command)]


def trusting(session: Session, node: str) -> list[str]:
    """Arguments of ssh by which only the node's own keys, as the cluster knows them, are trusted."""
    settings = {
        "EscapeChar": "none",
        "HashKnownHosts": "no",
        "GlobalKnownHostsFile": rooted(session.environ, KNOWN_HOSTS),
        "UserKnownHostsFile": "/dev/null",
        "CheckHostIp": "no",
        "HostKeyAlias": node,
        "StrictHostKeyChecking": "yes",
    }
    return [f"-o{name}={value}" for name, value in settings.items()]
