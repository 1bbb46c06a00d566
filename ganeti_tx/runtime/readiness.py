"""How a daemon tells who started it that it is up, or why it is not: the command that waits for it, and systemd."""

import os
import select
import socket
import time
from collections.abc import Callable, MutableMapping

from ganeti_tx.errors import ExitCode

#: Names the descriptor of a pipe on which the command listens that started a daemon in the background.
VARIABLE = "GANETI_READY_FD"
#: Names the socket on which systemd listens (sd_notify(3)); one that begins with @ is abstract.
SOCKET_VARIABLE = "NOTIFY_SOCKET"
#: What a daemon tells that is up; one that is not tells its exit status and why, such as "11 fatal: not the master".
READY = "ready"
MAX_SAID = 4096
#: Seconds for which systemd may keep a message waiting.
NOTIFY_LIMIT = 10.0
#: How a daemon ends that has nothing to do on this node. For systemd it was up then: it would call an end before that a
#: failure, whatever the status (systemd.service(5), Type=notify).
NOTHING_TO_DO = frozenset({ExitCode.NOTMASTER, ExitCode.NODESETUP_ERROR})


class Starter:
    """Who started this process. Nobody listens: no harm. What is started from here does not tell it anything."""

    def __init__(self, environ: MutableMapping[str, str]) -> None:
        self._tell = to_command(environ)
        self._notify = to_systemd(environ)

    def ready(self) -> None:
        """The daemon is up."""
        self._tell(READY)
        self._notify("READY=1\nSTATUS=")

    def failed(self, status: int, reason: str) -> None:
        """It is not, and ends with a status. To be called when its pid file, if it has nothing to do here, is let go."""
        self._tell(f"{status:d} fatal: {reason}")
        self._notify(f"STATUS=fatal: {reason}")
        if status in NOTHING_TO_DO:
            self._notify("READY=1")

    def ends(self, reason: str = "") -> None:
        """It was up and ends. @param reason: why it does of its own."""
        self._notify("STOPPING=1" + (f"\nSTATUS=fatal: {reason}" if reason else ""))


def to_systemd(environ: MutableMapping[str, str]) -> Callable[[str], None]:
    """Takes messages of sd_notify to who listens on the socket that the environment names."""
    address = environ.pop(SOCKET_VARIABLE, "")
    if address.startswith("@"):
        address = "\0" + address[1:]

    def notify(message: str) -> None:
        if not address:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
            sending.settimeout(NOTIFY_LIMIT)
            try:
                sending.sendto(message.encode()[:MAX_SAID], address)
            except OSError:
                return  # who does not listen does not wait

    return notify


def to_command(environ: MutableMapping[str, str]) -> Callable[[str], None]:
    """Takes one text to the command that waits for this process; "" is said by all who end without a word."""
    descriptor = int(environ.pop(VARIABLE, "-1"))

    def tell(text: str) -> None:
        nonlocal descriptor
        if descriptor < 0:
            return
        told, descriptor = descriptor, -1
        try:
            os.write(told, text.encode()[:MAX_SAID])
        except BrokenPipeError:
            return  # it has stopped waiting
        finally:
            os.close(told)

    return tell


def heard(descriptor: int, limit: float) -> str | None:
    """What a daemon tells within `limit` seconds, "" if it ended without a word; None when the time is over."""
    said = b""
    deadline = time.monotonic() + limit
    while True:
        readable, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        if not readable:
            return None
        data = os.read(descriptor, MAX_SAID)
        if not data:
            return said.decode("utf-8", "replace")
        said += data
