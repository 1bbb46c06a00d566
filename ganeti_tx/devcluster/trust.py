"""Whether a directory may be believed: what lies in a devcluster says which scripts run as its user, and what is removed."""

import os
import pwd
import stat
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from ganeti_tx.devcluster.error import DevclusterError

#: Symbolic links on the way to a directory; the kernel's own limit.
MAX_LINKS = 40
#: What is no more than data: disks, jobs, logs, what a TPM keeps as whoever it is, and what disappears with the processes.
DATA = ("file-storage", "shared-file-storage", "shared", "queue", "log", "kvm-firmware", "run")
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def check_trusted(root: Path) -> None:
    """Make sure that all in a devcluster's directory was put there by us, or by root; and if there is none, that we can make it.

    @raise DevclusterError: it, something in it or a directory above belongs to somebody else, or others may write in it.
    """
    try:
        owner = root.stat().st_uid
    except FileNotFoundError:
        owner = os.geteuid()
    if owner != os.geteuid():
        raise distrust(root, root, f"belongs to {named(owner)}, not to you, {named(os.geteuid())}")
    check_way(root)
    for directory, directories, files in os.walk(root):
        for name in (*directories, *files):
            check_entry(root, Path(directory, name))
        directories[:] = [name for name in directories if name not in DATA]


def check_way(root: Path) -> None:
    """The same for the directory itself and those above: nobody else can put another in its place."""
    *above, itself = passed_on_the_way(root.absolute())
    for path in above:
        check_entry(root, path, others_may_add=True)
    check_entry(root, itself)


def check_entry(root: Path, path: Path, others_may_add: bool = False) -> None:
    """Look at one file, directory or link itself.

    @param others_may_add: in a directory with the sticky bit, such as /tmp, others may make entries, not replace ours.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:  # it was there a moment ago
        return
    if found.st_uid not in (os.geteuid(), 0, Path("/").stat().st_uid):  # root's id in a user namespace is that of /
        raise distrust(root, path, f"belongs to {named(found.st_uid)}, who could have programs run as you")
    sticky = others_may_add and found.st_mode & stat.S_ISVTX
    if not stat.S_ISLNK(found.st_mode) and found.st_mode & OTHERS_MAY_WRITE and not sticky:
        raise distrust(root, path, f"can be written by others (mode {stat.S_IMODE(found.st_mode):04o})")


def allow_nobody_else_to_write() -> None:
    """Make no files from now on that groups or others may write, whatever this user's habit."""
    os.umask(os.umask(OTHERS_MAY_WRITE) | OTHERS_MAY_WRITE)


def own_directory() -> Path:
    """Our home; by the user database, as HOME may be another user's, where programs are run as root by them."""
    try:
        return Path(pwd.getpwuid(os.geteuid()).pw_dir)
    except KeyError:
        return Path.home()


def distrust(root: Path, path: Path, why: str) -> DevclusterError:
    """What to say and what can be done."""
    what = "it" if path == root else str(path)
    return DevclusterError(
        f"{root} is not safe: {what} {why}; give another --root, or remove it, or make it yours if nobody else made its files"
    )


def named(user: int) -> str:
    """A user for messages."""
    try:
        return f"{pwd.getpwuid(user).pw_name} (user {user})"
    except KeyError:
        return f"user {user}"


def passed_on_the_way(path: Path) -> Iterator[Path]:
    """Every directory and link that is passed when an absolute path is opened, from `/` on, and the path's own end.

    @raise DevclusterError: links lead in circles.
    """
    at, names, links = Path("/"), deque(path.parts[1:]), 0
    yield at
    while names:
        name = names.popleft()
        at = at.parent if name == ".." else at / name
        yield at
        if at.is_symlink():
            links += 1
            if links > MAX_LINKS:
                raise DevclusterError(f"too many symbolic links on the way to {path}")
            target = at.readlink()
            names.extendleft(reversed(target.parts[1:] if target.is_absolute() else target.parts))
            at = Path("/") if target.is_absolute() else at.parent
