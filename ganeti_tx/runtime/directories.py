"""The directories of a node with their modes (Ganeti 3.0 configuration table, path modes)."""

import grp
import os
import pwd
from pathlib import Path

import attrs

from ganeti_tx.runtime.paths import Paths


@attrs.frozen
class Owned:
    """A directory, its mode, and the user and group that own it where they exist."""

    path: Path
    mode: int
    owner: str = "root"
    group: str = "root"


def directories(paths: Paths) -> tuple[Owned, ...]:
    """What must be there before a daemon starts, parents first."""
    master, daemons = "gnt-masterd", "gnt-daemons"
    return (
        Owned(paths.data_dir, 0o755, master, master),
        Owned(paths.queue_dir, 0o750, master, daemons),
        Owned(paths.queue_archive_dir, 0o750, master, daemons),
        Owned(paths.run_dir, 0o775, master, daemons),
        Owned(paths.socket_dir, 0o750, master, daemons),
        Owned(paths.livelock_dir, 0o750, master, daemons),
        Owned(paths.log_dir, 0o770, master, daemons),
        Owned(paths.log_os_dir, 0o750, "root", daemons),
        Owned(paths.instance_disks_dir, 0o755),
    )


def ensure_directories(paths: Paths) -> None:
    """Make what is missing and mend modes; owners only as root and where the users exist. @raise OSError."""
    for directory in directories(paths):
        directory.path.mkdir(parents=True, exist_ok=True)
        directory.path.chmod(directory.mode)
        if os.geteuid() == 0 and (ids := known_ids(directory.owner, directory.group)) is not None:
            os.chown(directory.path, *ids)


def known_ids(user: str, group: str) -> tuple[int, int] | None:
    """The ids of a user and a group; None when one does not exist here."""
    try:
        return pwd.getpwnam(user).pw_uid, grp.getgrnam(group).gr_gid
    except KeyError:
        return None
