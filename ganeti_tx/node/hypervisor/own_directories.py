"""That nobody else could have put anything where root looks for what instances have left, writes, and removes.

The run directory and the log directory around such places are all the daemons' users': one of them could make a driver's before it
does, or rename it and put his own in its place, with links in it to any directory of the system.
"""

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from ganeti_tx.errors import HypervisorError
from ganeti_tx.runtime.files import IFiles

OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def check_directories(files: IFiles, directories: Iterable[Path]) -> None:
    """@raise HypervisorError: one of them, if it is there, is a link, or somebody else's, or others may write to it."""
    for path in directories:
        try:
            if _is_link(files, path):
                raise HypervisorError(
                    f"{path} is not used: it is a link, which others may have put there; move it away"
                )
            found = files.stat(path)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise HypervisorError(f"cannot look at {path}: {error.strerror}") from None
        if found.uid not in (0, os.geteuid()) or found.mode & OTHERS_MAY_WRITE:
            raise HypervisorError(
                f"{path} is not used: others may have put links into it, as it belongs to user {found.uid} and has mode "
                f"{found.mode:04o}; move it away"
            )


def _is_link(files: IFiles, path: Path) -> bool:
    try:
        files.readlink(path)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return False
        raise
    return True
