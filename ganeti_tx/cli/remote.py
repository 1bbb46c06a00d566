"""The way to other nodes: the remote shell that the environment names, or SSH."""

import re
import shlex
from collections.abc import Sequence

from ganeti_tx.cli.session import KNOWN_HOSTS, Session, rooted
from ganeti_tx.errors import ParameterError
from ganeti_tx.model.host_name import SHOWN, host_name_fault
from ganeti_tx.model.ip_family import is_address

#: Names what reaches other nodes in place of ssh, as in a devcluster.
_REMOTE_SHELL = "GANETI_REMOTE_SHELL"
DEFAULT_PORT = 22
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")


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
    @raise ParameterError: the user, the node or its address is no name of such, and might be an option to ssh.
    """  # fmt: skip
    _check(user, node, address)
    if shell := session.environ.get(_REMOTE_SHELL):
        return [*shlex.split(shell), node, *command]
    trusted = trusting(session, node)
    return ["ssh", *trusted, f"-oPort={port}", *more, f"{user}@{address or node}", "--", shlex.join(command)]


def _check(user: str, node: str, address: str | None) -> None:
    if _USER.fullmatch(user) is None:
        raise ParameterError(
            f"not a user's name: {user[:SHOWN]!r}; allowed are small letters, digits, - and _ behind one"
        )
    if fault := host_name_fault(node):
        raise ParameterError(fault)
    if address is not None and not is_address(address):
        raise ParameterError(f"not an IP address: {address[:SHOWN]!r}")


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
