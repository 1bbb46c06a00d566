"""That nobody else could have put anything into a directory of a program's own.

The run directory and the log directory are all the daemons' users': one of them could make a directory there before its owner does,
with links in it to anywhere, or records that root would believe.
"""

import errno
import os
import stat
from pathlib import Path

from ganeti_tx.runtime.files import IFiles

OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def directory_fault(files: IFiles, path: Path) -> str | None:
    """Why it is not to be used, if it is there: a link, or somebody else's, or others may write to it.

    @raise OSError: it cannot be looked at.
    """
    try:
        if is_link(files, path):
            return f"{path} is not used: it is a link, which others may have put there; move it away"
        found = files.stat(path)
    except FileNotFoundError:
        return None
    return owner_fault(path, found.uid, found.mode)


def owner_fault(path: Path, uid: int, mode: int) -> str | None:
    """Why a directory is not to be used: it is somebody else's, or others may write to it."""
    if uid in (0, os.geteuid()) and not mode & OTHERS_MAY_WRITE:
        return None
    return (
        f"{path} is not used: others may have put links into it, as it belongs to user {uid} and has mode "
        f"{stat.S_IMODE(mode):04o}; move it away"
    )


def is_link(files: IFiles, path: Path) -> bool:
    """Whether it is a symbolic one. @raise OSError: it cannot be looked at."""
    try:
        files.readlink(path)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return False
        raise
    return True
