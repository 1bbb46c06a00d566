"""Listening on unix sockets: a stale one is replaced, a living one is respected, and nobody gets in before the mode is set."""

import os
import socket
from pathlib import Path
from typing import Any

from twisted.internet.interfaces import IListeningPort, IReactorUNIX
from twisted.internet.protocol import Factory

from ganeti_tx.errors import GenericError

DIRECTORY_MODE = 0o750
BACKLOG = 128


def listen_unix(reactor: IReactorUNIX, path: Path, factory: Factory[Any], mode: int) -> IListeningPort:
    """@raise GenericError: somebody answers there already."""
    path.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    if path.exists():
        if answers(path):
            raise GenericError(f"somebody listens on {path} already")
        path.unlink(missing_ok=True)
    before = os.umask(0o177)
    try:
        port: IListeningPort = reactor.listenUNIX(str(path), factory, backlog=BACKLOG, mode=mode)
    finally:
        os.umask(before)
    return port


def answers(path: Path) -> bool:
    """Whether somebody accepts connections there."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True
