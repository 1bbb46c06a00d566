"""A file that somebody names on a command line, read whole: at a pipe or a device nobody waits."""

import errno
import os
import stat
from pathlib import Path


def read_regular(path: Path, limit: int) -> bytes:
    """The content. @raise OSError: EINVAL, it is no regular file; EFBIG, it is larger than `limit` bytes."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"longer than {limit} bytes", str(path))
    return content
