"""The log file of a daemon in the background."""

import io
from pathlib import Path
from typing import IO, cast

from twisted.logger import ILogObserver, textFileLogObserver

from ganeti_tx.runtime.appended_file import AppendedFile

MODE = 0o600


class LogText(io.TextIOBase):
    """Takes the lines for the file; those that the disk refuses are lost, as there is nobody to tell."""

    def __init__(self, file: AppendedFile) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Called by Twisted with whole lines."""
        try:
            self._file.write(text.encode("utf-8", "backslashreplace"))
        except OSError:
            return 0
        return len(text)


def daemon_log(path: Path) -> ILogObserver:
    """Logs to a file, which a second start of the same daemon may write to as well.

    Twisted's own log files are not appended to: two processes write over each other's lines.

    @raise OSError: the file cannot be opened.
    """
    file = AppendedFile(path, MODE)
    file.write(b"")
    return textFileLogObserver(cast(IO[str], LogText(file)))
