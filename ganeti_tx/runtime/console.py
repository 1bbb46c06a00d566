"""The machine's console, which takes what the node daemon cannot write into its log (design-2.1)."""

import os
from collections.abc import Callable
from pathlib import Path

from ganeti_tx.runtime.daemon_names import NODE
from ganeti_tx.runtime.paths import Paths

DEVICE = Path("/dev/console")
#: Takes text that could not be written to where it belongs.
Otherwise = Callable[[str], None]


def lost(_text: str) -> None:
    """`Otherwise` of who has no other place."""


def console(daemon: str, device: Path = DEVICE) -> Otherwise:
    """`Otherwise` of a daemon that has a machine: its console, where each line tells whose it is.

    Nobody waits for a console that is slow or has been stopped, and one that is not there takes nothing.
    """

    def write(text: str) -> None:
        lines = "".join(f"{daemon}: {line}\n" for line in text.splitlines())
        try:
            descriptor = os.open(device, os.O_WRONLY | os.O_APPEND | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return
        try:
            os.write(descriptor, lines.encode("utf-8", "backslashreplace"))
        except OSError:
            pass
        finally:
            os.close(descriptor)

    return write


def otherwise_of(daemon: str, paths: Paths) -> Otherwise:
    """Where a daemon of the node at these paths says what cannot be logged: the node daemon of a whole machine has its console."""
    return console(daemon) if daemon == NODE and paths.root.resolve() == Path("/") else lost
