"""What the kernel tells of a device or file that holds a disk; all of it blocks."""

import errno
import os
import stat

from attrs import frozen

MIB = 1 << 20
#: A pipe in the device's place holds nobody up.
LOOKING = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
#: There is a name, and nothing behind it.
NOTHING = (errno.ENOENT, errno.ENOTDIR, errno.ENXIO, errno.ENODEV, errno.ENOMEDIUM)


@frozen
class Device:
    """A block device, or a file (`number` None); `size` is MiB, the number is (major, minor)."""

    size: int
    number: tuple[int, int] | None


def look_at(path: str) -> Device | None:
    """What is there; None when there is nothing. @raise OSError: it cannot be told, or is no disk (EINVAL)."""
    try:
        seen = os.stat(path)
        if not (stat.S_ISBLK(seen.st_mode) or stat.S_ISREG(seen.st_mode)):
            raise OSError(errno.EINVAL, "is neither a block device nor a file", path)
        descriptor = os.open(path, LOOKING)
    except OSError as error:
        if error.errno in NOTHING:
            return None
        raise
    try:
        number = (os.major(seen.st_rdev), os.minor(seen.st_rdev)) if stat.S_ISBLK(seen.st_mode) else None
        return Device(os.lseek(descriptor, 0, os.SEEK_END) // MIB, number)
    finally:
        os.close(descriptor)


def is_used(path: str) -> bool:
    """Whether something has a block device for itself: a file system, a mapping, another who asked for it so."""
    try:
        os.close(os.open(path, LOOKING | os.O_EXCL))
    except OSError as error:
        return error.errno == errno.EBUSY
    return False
