"""Runs in a node: which files differ in owner or mode from the table; one line each."""

import grp
import os
import pwd
from collections.abc import Iterator
from pathlib import Path

from ganeti_tx.runtime.path_modes import DIRECTORY_MODES, FILE_MODES, GROUPS, SSCONF_MODE, USERS, mode_of

TOPS = ("/var/lib/ganeti", "/var/run/ganeti", "/var/log/ganeti")


def paths() -> Iterator[str]:
    """All there may be."""
    yield from FILE_MODES
    yield from DIRECTORY_MODES
    for top in TOPS:
        yield from map(str, Path(top).rglob("*"))


def main() -> None:
    """The differences, then how many paths were compared."""
    compared = 0
    for path in dict.fromkeys(paths()):
        wanted = mode_of(path)
        if wanted is None or not os.path.lexists(path):
            continue
        compared += 1
        found = os.lstat(path)
        is_now = (
            f"{found.st_mode & 0o7777:04o} {pwd.getpwuid(found.st_uid).pw_name}:{grp.getgrgid(found.st_gid).gr_name}"
        )
        expected = f"{wanted.mode:04o} {USERS[wanted.owner]}:{GROUPS[wanted.group]}"
        by_master = (
            wanted == SSCONF_MODE and is_now == "0444 gnt-masterd:gnt-masterd"
        )  # it writes its own node's itself
        if is_now != expected and not by_master:
            print(f"{path}: {is_now}, not {expected}")
    print(f"{compared} compared")


if __name__ == "__main__":
    main()
