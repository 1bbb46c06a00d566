"""The processes of a devcluster: which daemons they are, for which node they work, and the end of them all."""

import os
import re
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ganeti_tx.devcluster.error import DevclusterError
from ganeti_tx.devcluster.machines import end_machines
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


def is_callers(process: int) -> bool:
    """Whether it is no daemon and was started together with this one, as the rest of a pipeline is, which may be of a node, too."""
    try:
        return os.getpgid(process) == os.getpgrp() and daemon_of(process) is None
    except ProcessLookupError:
        return False


def end_all(root: Path) -> int:
    """End the supervisor, the daemons, the instances and whatever is left; gives how many processes there were.

    Whoever calls this may have a node's environment, and goes on. @raise DevclusterError: something of an instance is left.
    """
    supervised = stop_supervisor(root)
    there = {each for each in processes_of(root) if not is_callers(each)}
    there |= end_each(root, lambda process: daemon_of(process) is not None)  # nothing is started any more then
    faults = end_machines(root)
    there |= end_each(root, lambda process: True)
    if faults:
        raise DevclusterError(f"not all that ran in {root} has ended: {'; '.join(faults)}")
    return len(there) + supervised


def end_each(root: Path, wanted: Callable[[int], bool]) -> set[int]:
    """Ask processes to end, then kill what is left; gives which they were."""
    asked: set[int] = set()
    deadline = time.monotonic() + GRACE

    def left() -> set[int]:
        return {each for each in processes_of(root) if wanted(each) and not is_callers(each)}

    while (found := left()) and time.monotonic() < deadline:
        for process in found - asked:  # a daemon that was just being started may show later
            send(process, signal.SIGTERM)
        asked |= found
        time.sleep(0.05)
    for process in found:
        send(process, signal.SIGKILL)
    return asked
