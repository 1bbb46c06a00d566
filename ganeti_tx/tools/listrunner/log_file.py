"""Where it stands what a machine says."""

import errno
import os
import stat
from pathlib import Path
from typing import IO

MODE = 0o600
#: Whoever else may write to the directory could put a link to any file there, or a pipe at which nobody reads.
WRITING = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_log(path: Path) -> IO[bytes]:
    """An empty one. @raise OSError: it cannot be written, or something else is there."""
    try:
        descriptor = os.open(path, WRITING, MODE)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "a symbolic link, which is not written through", str(path)) from None
        raise
    file = os.fdopen(descriptor, "wb")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    os.ftruncate(descriptor, 0)
    return file
