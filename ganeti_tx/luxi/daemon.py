"""Who listens on a socket, and what a client says when it cannot connect."""

import errno
import importlib
from typing import NamedTuple

from ganeti_tx.luxi import transport_errors


class Daemon(NamedTuple):
    """A daemon by what it is called, and the program that has it in it, where operators start that."""

    name: str
    program: str | None = None


LUXI_DAEMON = Daemon("the master daemon (ganeti-luxid, part of ganeti-master)", "ganeti-master")
_DOWN = (errno.ENOENT, errno.ECONNREFUSED)
_FORBIDDEN = (errno.EACCES, errno.EPERM)


def connect_error(daemon: Daemon, path: str, error: OSError) -> transport_errors.ProtocolError:
    """The error of a failed connect, with what to do about it."""
    if error.errno in _DOWN:
        return transport_errors.NoMasterError(f"Cannot reach {daemon.name} at {path}: {not_up(daemon, path)}")
    if error.errno in _FORBIDDEN:
        return transport_errors.PermissionError(
            f"No permission to use {path}: run this as root or as a user who may talk to {daemon.name}"
        )
    if error.errno == errno.EAGAIN or isinstance(error, TimeoutError):
        return transport_errors.TimeoutError(f"{daemon.name} at {path} took no connection in time")
    return transport_errors.ProtocolError(f"Cannot connect to {path}: {error.strerror or error}")


def not_up(daemon: Daemon, path: str) -> str:
    """That it does not listen, and why, where that is known; and what to do."""
    waits: str | None = None
    if daemon.program is not None:
        # With it come files and paths, which few commands have any use for.
        waits = importlib.import_module("ganeti_tx.luxi.master_waits").what_is_waited_for(path)
    if waits is not None:
        return waits
    return f"it is not running on this node{how_to_start(daemon)}"


def how_to_start(daemon: Daemon) -> str:
    """What ends a line that says that a daemon does not run."""
    if daemon.program is None:
        return ""
    # With it come paths and URLs, which few commands have any use for.
    control = importlib.import_module("ganeti_tx.runtime.daemon_control").DaemonControl.here()
    return f". Start it on the master node with '{control.command('start', daemon.program)}'"
