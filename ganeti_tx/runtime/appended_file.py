"""A log file that is only ever appended to, and that may be moved away at any time."""

import errno
import os
import stat
from pathlib import Path

from attrs import define

from ganeti_tx.runtime.opened_or_made import open_or_make
from ganeti_tx.runtime.ownership import give

#: Logs lie in a directory that is the daemons' own. Who has taken one of them over may put there, in the place of a log that
#: root writes, a link to any file, or a pipe at which root would wait for ever.
APPENDING = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_to_append(path: Path | str, mode: int) -> int:
    """The descriptor of a log, which is made if need be. @raise OSError: ELOOP, ENXIO, EINVAL, it is no file but a link or pipe"""
    descriptor = open_or_make(path, APPENDING, mode)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Not a regular file", str(path))
    return descriptor


@define(eq=False)
class AppendedFile:
    """Opened anew when it was moved away or removed, so that whoever rotates it has nobody to tell."""

    path: Path
    mode: int
    _file: int | None = None

    def write(self, data: bytes) -> None:
        """Append, whatever others append meanwhile. @raise OSError: the disk refuses"""
        os.write(self._open(), data)

    def close(self) -> None:
        """Leave it; the next write opens it again."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        """The file of that name, which may be another than it was."""
        if self._file is not None:
            try:
                there, ours = os.lstat(self.path), os.fstat(self._file)
                if (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino):
                    return self._file
            except FileNotFoundError:
                pass
            self.close()
        self._file = open_to_append(self.path, self.mode)
        give(self._file, self.path)
        return self._file
