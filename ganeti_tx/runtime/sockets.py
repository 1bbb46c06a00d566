"""Unix sockets to listen on: a dead one is replaced, a living one is not."""

import os
import socket
import stat
from pathlib import Path
from typing import Any

from twisted.internet.interfaces import IListeningPort, IReactorUNIX
from twisted.internet.protocol import Factory

from ganeti_tx.errors import GenericError
from ganeti_tx.runtime.ownership import give

#: Ganeti's own mode and backlog for its sockets (Ganeti 3.0 LUXI table, "socket").
SOCKET_MODE = 0o660
BACKLOG = 50


def listen_unix(reactor: IReactorUNIX, path: Path, factory: Factory[Any], mode: int = SOCKET_MODE) -> IListeningPort:
    """Listen at a path.

    @raise GenericError: somebody answers there already, or the path is something else than a socket.
    @raise twisted.internet.error.CannotListenError: the system refused.
    """
    remove_dead_socket(path)
    port = reactor.listenUNIX(str(path), factory, backlog=BACKLOG, mode=mode, wantPID=False)
    give(path, path)
    return port


def remove_dead_socket(path: Path) -> None:
    """Remove what a crash left behind. @raise GenericError: it is alive, or no socket at all."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise GenericError(f"cannot listen at {path}: there is something that is not a socket")
    if answers(path):
        raise GenericError(f"cannot listen at {path}: another process answers there")
    path.unlink(missing_ok=True)


def answers(path: Path) -> bool:
    """Whether somebody listens; a full backlog (EAGAIN) is an answer, too."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(os.fspath(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except BlockingIOError:
            return True
        return True
