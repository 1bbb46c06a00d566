"""Copies of files that share their blocks until one of them is written to, where the file system can do so (ioctl_ficlone(2))."""

import errno
import fcntl
import os
import struct
from collections.abc import Sequence

FICLONE = 0x40049409
FICLONERANGE = 0x4020940D
#: descriptor, offset and length there, offset here.
RANGE = struct.Struct("qQQQ")
#: Bytes; more than any file system has in a block, and no disk is smaller.
TRIED = 1 << 16
#: A file without a name, which goes when it is closed (open(2)).
NAMELESS = os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC
CANNOT: Sequence[int] = (errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.EXDEV, errno.ENOSYS, errno.EISDIR)


def clone(source: int, target: int) -> None:
    """Give an empty file all that another has now, at one moment. @raise OSError: it cannot be."""
    fcntl.ioctl(target, FICLONE, source)


def can_clone(source: int, directory: int) -> bool:
    """Whether the file system of a directory can do so with a file in it. @raise OSError: that cannot be told."""
    try:
        tried = os.open(".", NAMELESS, 0o600, dir_fd=directory)
    except OSError as error:
        if error.errno in CANNOT:
            return False
        raise
    try:
        fcntl.ioctl(tried, FICLONERANGE, RANGE.pack(source, 0, TRIED, 0))
    except OSError as error:
        if error.errno in CANNOT:
            return False
        raise
    finally:
        os.close(tried)
    return True
