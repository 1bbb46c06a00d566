"""What is mounted where, as the kernel tells it (proc(5), mountinfo)."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import frozen

MOUNTINFO = Path("/proc/self/mountinfo")
#: What stands between a mount's own fields and those of its file system.
SEPARATOR = "-"
_ESCAPED = re.compile(r"\\([0-7]{3})")

#: Gives the table.
ReadTable = Callable[[], str]


@frozen
class Mounted:
    """A file system in a directory: its type, and what it is of."""

    kind: str
    source: str


def read_table() -> str:
    """That of this process."""
    return MOUNTINFO.read_text(encoding="utf-8", errors="surrogateescape")


def mounted_at(table: str, directory: Path) -> Mounted | None:
    """What one sees in a directory, of several the last; None where nothing is mounted."""
    return next((mounted for place, mounted in reversed(list(all_mounts(table))) if place == directory), None)


def mounts_below(table: str, directory: Path) -> list[Path]:
    """The directories below one in which something is mounted."""
    return sorted({place for place, _ in all_mounts(table) if directory in place.parents})


def all_mounts(table: str) -> Iterator[tuple[Path, Mounted]]:
    """Each with its directory, in the order in which they were mounted."""
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) > 6 and SEPARATOR in fields[6:]:
            kind, source = fields[fields.index(SEPARATOR, 6) + 1 :][:2]
            yield Path(unescaped(fields[4])), Mounted(kind, unescaped(source))


def unescaped(word: str) -> str:
    """The kernel writes spaces and such as octal numbers."""
    return _ESCAPED.sub(lambda match: os.fsdecode(bytes([int(match[1], 8) & 0xFF])), word)
