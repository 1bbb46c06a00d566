"""Where a daemon logs to, and what not."""

import errno
import io
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from twisted.logger import ILogObserver, LegacyLogObserverWrapper, LogEvent, formatEvent, textFileLogObserver
from twisted.python.syslog import SyslogObserver
from zope.interface import provider

from ganeti_tx.runtime.appended_file import AppendedFile
from ganeti_tx.runtime.console import Otherwise, lost
from ganeti_tx.runtime.files_errors import reason

MODE = 0o600
#: What a disk says that is full, read-only or broken.
DISK_FAULTS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
_PORT = re.compile(r"^\((UDP|TCP|TLS|UNIX) Port .* Closed\)$|^[^ ]+( \(TLS\))? starting on ")


class LogText(io.TextIOBase):
    """Takes the lines for a file or a descriptor; those that the disk refuses go elsewhere, where there is such a place."""

    def __init__(self, write: Callable[[bytes], object], otherwise: Otherwise = lost) -> None:
        self._write = write
        self._otherwise = otherwise

    def write(self, text: str) -> int:
        """Called by Twisted with whole lines."""
        try:
            self._write(text.encode("utf-8", "backslashreplace"))
        except OSError:
            self._otherwise(text)
            return 0
        return len(text)


class WhileRead(io.TextIOBase):
    """Takes lines for a pipe as long as somebody reads it: a job's process may outlive the daemon that had it started."""

    def __init__(self, pipe: IO[str]) -> None:
        self._pipe: IO[str] | None = pipe

    def write(self, text: str) -> int:
        """Called by Twisted with whole lines."""
        if self._pipe is None:
            return 0
        try:
            self._pipe.write(text)
            self._pipe.flush()
        except OSError:
            self._pipe = None  # nobody will ever read it again
            return 0
        return len(text)


def is_of_port(event: LogEvent) -> bool:
    """Whether Twisted tells of a port or socket; it does of each, also of those that live for one question."""
    return event.get("log_namespace") == "log_legacy" and _PORT.search(formatEvent(event)) is not None


def without_ports(write: ILogObserver) -> ILogObserver:
    """The same without what Twisted tells of ports."""

    @provider(ILogObserver)
    def observer(event: LogEvent) -> None:
        if not is_of_port(event):
            write(event)

    return cast(ILogObserver, observer)


def log_to(out: IO[str]) -> ILogObserver:
    """Logs to an open file."""
    return without_ports(textFileLogObserver(out))


def with_system(name: str, write: ILogObserver) -> ILogObserver:
    """The same with a name of the writer in each line, for logs that several processes share."""

    @provider(ILogObserver)
    def observer(event: LogEvent) -> None:
        write({**event, "log_system": name})

    return cast(ILogObserver, observer)


def to_syslog(daemon: str) -> ILogObserver:
    """Logs to syslog under the daemon's name."""
    emit: Any = SyslogObserver(daemon).emit
    return without_ports(cast(ILogObserver, LegacyLogObserverWrapper(emit)))


def output_log(out: IO[str], otherwise: Otherwise = lost) -> ILogObserver:
    """Logs to standard output, past its buffer, which would keep what cannot be written for the next time.

    @param otherwise: takes what cannot be written there.
    """
    out.flush()
    return log_to(cast(IO[str], LogText(partial(os.write, out.fileno()), otherwise)))


def daemon_log(path: Path, otherwise: Otherwise = lost) -> ILogObserver:
    """Logs to a file, which a second start of the same daemon may write to as well.

    Twisted's own log files are not appended to: two processes write over each other's lines.

    @param otherwise: takes what cannot be written there.
    @raise OSError: the file cannot be opened, and there is no other place, or not the disk is to blame.
    """
    file = AppendedFile(path, MODE)
    try:
        file.write(b"")
    except OSError as error:
        if otherwise is lost or error.errno not in DISK_FAULTS:
            raise
        otherwise(f"{path} cannot be written to, so that this is the log: {reason(error)}\n")
    return log_to(cast(IO[str], LogText(file.write, otherwise)))
