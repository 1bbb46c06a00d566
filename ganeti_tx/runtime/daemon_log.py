"""Where a daemon logs to, and what not."""

import io
import re
from pathlib import Path
from typing import IO, Any, cast

from twisted.logger import ILogObserver, LegacyLogObserverWrapper, LogEvent, formatEvent, textFileLogObserver
from twisted.python.syslog import SyslogObserver
from zope.interface import provider

from ganeti_tx.runtime.appended_file import AppendedFile

MODE = 0o600
_PORT = re.compile(r"^\((UDP|TCP|TLS|UNIX) Port .* Closed\)$|^[^ ]+( \(TLS\))? starting on ")


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


def daemon_log(path: Path) -> ILogObserver:
    """Logs to a file, which a second start of the same daemon may write to as well.

    Twisted's own log files are not appended to: two processes write over each other's lines.

    @raise OSError: the file cannot be opened.
    """
    file = AppendedFile(path, MODE)
    file.write(b"")
    return log_to(cast(IO[str], LogText(file)))
