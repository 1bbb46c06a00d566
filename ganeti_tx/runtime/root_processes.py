"""The processes of nodes that have root directories of their own, found by what their environment or command line names."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path


def processes_of(root: Path) -> Iterator[int]:
    """The ids of all processes that work in a root directory or below it, this one and its parents left out."""
    mark = str(root).encode()
    skipped = ancestors()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) not in skipped and belongs(entry, mark):
            yield int(entry.name)


def ancestors() -> set[int]:
    """This process and those above it."""
    found: set[int] = set()
    process = os.getpid()
    while process > 1 and process not in found:
        found.add(process)
        try:
            process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError, IndexError):
            break
    return found


def belongs(entry: Path, mark: bytes) -> bool:
    """Whether a process's environment names the root, or it is an instance whose pid file is below it."""
    try:
        environment = (entry / "environ").read_bytes().split(b"\0")
        arguments = (entry / "cmdline").read_bytes()
    except OSError:
        return False
    named = [value.partition(b"=")[2] for value in environment if value.startswith(b"GANETI_ROOTDIR=")]
    if any((root + b"/").startswith(mark + b"/") for root in named):
        return True
    return b"\0-pidfile\0" + mark + b"/" in arguments


def send(process: int, number: signal.Signals) -> None:
    """Send a signal; one that is gone needs none, and one of another user is not ours."""
    try:
        os.kill(process, number)
    except (ProcessLookupError, PermissionError):
        return
