"""Whose the processes of this machine are."""

import re
from collections.abc import Callable
from pathlib import Path

from ganeti_tx.runtime.process_usage import is_over

#: The real, effective, saved and file system's user id (proc(5), "status").
_UIDS = re.compile(r"^Uid:\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)", re.MULTILINE)


def user_ids_in_use(proc: Path = Path("/proc"), over: Callable[[int], bool] = is_over) -> frozenset[int]:
    """Every user id that a process runs under, whichever of its four it is; one that runs no more code has none.

    Read from the processes' own lines: the owner of their directories is root where they have changed their user.
    """
    found: set[int] = set()
    for entry in proc.iterdir():
        if entry.name.isdigit() and not over(int(entry.name)):
            found.update(_ids_of(entry / "status"))
    return frozenset(found)


def _ids_of(status: Path) -> set[int]:
    try:
        uids = _UIDS.search(status.read_text("utf-8", "replace"))
    except (FileNotFoundError, ProcessLookupError):
        return set()  # it has ended meanwhile
    return {int(uid) for uid in uids.groups()} if uids else set()
