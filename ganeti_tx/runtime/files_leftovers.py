"""Temporary files: how they are called while a write is under way, and how those go that a crash left."""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ganeti_tx.runtime.process_usage import is_over

TEMPORARY_SUFFIX = ".tmp"
#: Tells the writes of this process from those of an earlier one with the same process id.
_THIS_PROCESS = os.urandom(4).hex()
_TEMPORARY = re.compile(r"\..*\.([0-9]+)-(?:([0-9a-f]{8})-)?[0-9]+(?:-[a-z]+)?\.tmp", re.DOTALL)
#: A livelock before it is locked and has its name.
_UNNAMED_LIVELOCK = re.compile(r"\.[a-z0-9][a-z0-9_-]*_([0-9]+)_[0-9.]+()\.new")


def temporary_name(name: str, ticket: int, purpose: str = "") -> str:
    """The name beside a file under which this process writes it; `ticket` is one per write."""
    end = f"-{purpose}" if purpose else ""
    return f".{name}.{os.getpid()}-{_THIS_PROCESS}-{ticket}{end}{TEMPORARY_SUFFIX}"


def is_temporary(name: str) -> bool:
    """Whether a name in a directory is that of a write under way (or of one that a crash cut short)."""
    return name.startswith(".") and name.endswith(TEMPORARY_SUFFIX)


def remove_leftovers(directories: Iterable[Path]) -> list[Path]:
    """Remove what dead processes were writing when they died, and return it; what cannot be removed stays."""
    removed: list[Path] = []
    for directory in directories:
        names: list[str] = []
        with suppress(OSError):
            names = sorted(os.listdir(directory))
        for path in (directory / name for name in names if _is_leftover(name)):
            with suppress(OSError):
                path.unlink()
                removed.append(path)
    return removed


def _is_leftover(name: str) -> bool:
    match = _TEMPORARY.fullmatch(name) or _UNNAMED_LIVELOCK.fullmatch(name)
    if match is None:
        return False
    writer = int(match[1])
    if writer == os.getpid():
        return bool(match[2]) and match[2] != _THIS_PROCESS
    return is_over(writer)
