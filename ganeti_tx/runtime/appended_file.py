"""A log file that is only ever appended to, and that may be moved away at any time."""

import os
from pathlib import Path

from attrs import define

from ganeti_tx.runtime.ownership import give


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
                there, ours = os.stat(self.path), os.fstat(self._file)
                if (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino):
                    return self._file
            except FileNotFoundError:
                pass
            self.close()
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, self.mode)
        give(self._file, self.path)
        return self._file
