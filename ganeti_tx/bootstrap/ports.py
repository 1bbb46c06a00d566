"""The ports of the daemons that talk to the outside: whether they are free is found out before anything is written."""

import errno
import re
import socket
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from ganeti_tx.bootstrap.problems import Problems
from ganeti_tx.model.ip_family import every_address, family_of
from ganeti_tx.model.own_ports import MOND_PORT, RAPI_PORT
from ganeti_tx.runtime.daemon_names import RAPI
from ganeti_tx.runtime.paths import Paths

#: What systemd's units give the daemons as options.
DEFAULTS = Path("/etc/default/ganeti")
MAX_DEFAULTS = 64 * 1024


@frozen
class Port:
    """Where a daemon listens when it is told nothing else. @ivar everywhere: on all addresses of a machine of its own."""

    number: int
    kind: socket.SocketKind = socket.SOCK_STREAM
    everywhere: bool = False


#: Ganeti 3.0 ports.
PORTS = {
    "ganeti-confd": Port(1814, socket.SOCK_DGRAM),
    "ganeti-mond": Port(MOND_PORT),
    RAPI: Port(RAPI_PORT, everywhere=True),
}


def check_ports(
    problems: Problems, paths: Paths, address: str, daemons: Sequence[str], defaults: Path = DEFAULTS
) -> None:
    """Nobody else may have the ports of these daemons. A daemon that has options of its own finds out by itself."""
    if not address:
        return
    alone = paths.root == Path("/")
    for daemon in daemons:
        port = PORTS[daemon]
        if alone and has_options(defaults, daemon):
            continue
        where = address
        if port.everywhere and alone:
            where = every_address(family_of(address))
        if is_taken(where, port):
            kind = "UDP" if port.kind == socket.SOCK_DGRAM else "TCP"
            problems.add(
                f"{daemon} needs {kind} port {port.number} on {where}, where something listens already; stop it"
            )


def has_options(defaults: Path, daemon: str) -> bool:
    """Whether the daemon is given options, as in RAPI_ARGS="-p 5081"."""
    try:
        with defaults.open(errors="replace") as file:
            text = file.read(MAX_DEFAULTS)
    except OSError:
        return False
    name = daemon.removeprefix("ganeti-").upper()
    return re.search(rf"^\s*{name}_ARGS=[\"']?[^\"'\s]", text, re.MULTILINE) is not None


def is_taken(address: str, port: Port) -> bool:
    """Whether something listens there; an address that is not ours is told of elsewhere."""
    with socket.socket(family_of(address), port.kind) as probe:
        if port.kind == socket.SOCK_STREAM:  # with it, datagrams would be shared
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port.number))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False
