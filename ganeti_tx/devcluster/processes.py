"""The processes of a devcluster: which daemons they are, for which node they work, and the end of them all."""

import re
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from ganeti_tx.devcluster.supervising import stop_supervisor
from ganeti_tx.runtime.daemon_names import ALL
from ganeti_tx.runtime.root_processes import processes_of, send

#: Seconds that a process gets between being asked and being killed.
GRACE = 10.0


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
