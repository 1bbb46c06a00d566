"""The processes of a devcluster, found by the root directory in their environment or command line."""

import os
import re
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ganeti_tx.devcluster.supervising import stop_supervisor
from ganeti_tx.runtime.daemon_names import ALL

#: Seconds that a process gets between being asked and being killed.
GRACE = 10.0


def processes_of(root: Path) -> Iterator[int]:
    """The ids of all processes that work below a directory, this one and its parents left out."""
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
    named = [value for value in environment if value.startswith(b"GANETI_ROOTDIR=")]
    if any(value.partition(b"=")[2].startswith(mark + b"/") for value in named):
        return True
    return b"\0-pidfile\0" + mark + b"/" in arguments


def daemon_of(process: int) -> str | None:
    """Which daemon of ours a process is, such as "ganeti-noded"; None for anything else."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return None
    programs = {word.rpartition("/")[2] for word in words}
    return next((name for name in ALL if name in programs), None)


def node_of(process: int, roots: Sequence[Path]) -> Path | None:
    """For which node's root a process works."""
    try:
        named = Path(f"/proc/{process}/environ").read_bytes() + b"\0" + Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return None
    return next((root for root in roots if re.search(re.escape(bytes(root)) + rb"[/\0]", named)), None)


def end_all(root: Path) -> int:
    """Ask every process to end, the supervisor first, then kill what is left; gives how many there were."""
    supervised = stop_supervisor(root)
    asked: set[int] = set()
    deadline = time.monotonic() + GRACE
    while (found := set(processes_of(root))) and time.monotonic() < deadline:
        for process in found - asked:  # a daemon that was just being started may show later
            send(process, signal.SIGTERM)
        asked |= found
        time.sleep(0.05)
    for process in found:
        send(process, signal.SIGKILL)
    return len(asked) + supervised


def send(process: int, number: signal.Signals) -> None:
    """Send a signal; one that is gone needs none, and one of another user is not ours."""
    try:
        os.kill(process, number)
    except (ProcessLookupError, PermissionError):
        return
