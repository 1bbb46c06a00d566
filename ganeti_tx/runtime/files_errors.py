"""What went wrong on a disk, in words for the operator: what the system said, and what to do about it."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

#: What to do, by what the system said.
ADVICE = {
    errno.ENOSPC: "free space or inodes on the file system of {directory}",
    errno.EDQUOT: "raise the quota on the file system of {directory} or remove files there",
    errno.EROFS: "find out from the kernel's log why the file system of {directory} is read-only, and remount it writable",
    errno.EIO: "the disk under {directory} fails: see the kernel's log",
    errno.EMFILE: "raise this program's limit of open files",
    errno.ENFILE: "raise the system's limit of open files, fs.file-max",
    errno.EACCES: "check the owner and the mode of {directory}",
    errno.EPERM: "check the owner, the mode and the attributes of {directory}",
}


class NotSynced(OSError):
    """The file is in its place, for everybody who reads it, but a power cut may bring back what was there before."""


class HalfPlaced(OSError):
    """Some of several files were put in place, and could not be taken back: `placed`."""

    def __init__(self, code: int, text: str, path: str, placed: Sequence[Path]) -> None:
        super().__init__(code, text, path)
        self.placed = list(placed)


def explained(error: OSError, path: Path) -> OSError:
    """The same error about the file that was meant, not a temporary one, with what can be done."""
    if error.errno is None:
        return error
    return OSError(error.errno, words(error, path), str(path))


def words(error: OSError, path: Path) -> str:
    """What the system said, and what to do about it."""
    said = os.strerror(error.errno) if error.errno is not None else str(error)
    advice = ADVICE.get(error.errno or 0)
    return said if advice is None else f"{said}; {advice.format(directory=path.parent)}"


def reason(error: OSError) -> str:
    """An error in one line: the words, and the path when one is known."""
    said = error.strerror or str(error)
    return f"{error.filename}: {said}" if error.filename else said
