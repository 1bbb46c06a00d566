"""Who asked for what: a line a request, in the combined log format (design-2.0, logging)."""

import re
import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

from attrs import define, field
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ganeti_tx.runtime.appended_file import AppendedFile
from ganeti_tx.runtime.files_errors import reason

log = Logger()

MODE = 0o640
#: Seconds until what was logged is in the file.
DELAY = 1.0
#: With so many bytes it is written at once.
MOST_WAITING = 64 * 1024
#: Seconds between two complaints.
QUIET = 60.0
#: Bytes of one field; what a client sends beyond it only fills the disk.
LONGEST = 2048
_UNSAFE = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]")


def escaped(text: str) -> str:
    """As Apache writes it: nothing in it ends the field, or the line."""
    return _UNSAFE.sub(
        lambda found: "".join(f"\\x{byte:02x}" for byte in found[0].encode("utf-8", "surrogateescape")), text
    )


@define(eq=False)
class AccessLog:
    """Lines are written some at a time.

    @ivar now: seconds since the epoch.
    """

    path: Path
    clock: IReactorTime
    now: Callable[[], float] = time.time
    _lines: list[str] = field(factory=list)
    _waiting: int = 0
    _flush: Any = None
    _file: AppendedFile = field(init=False)
    _complained: float | None = None
    _second: tuple[int, str] = (0, "")

    def __attrs_post_init__(self) -> None:
        self._file = AppendedFile(self.path, MODE)

    def answered(self, request: Any) -> None:
        """A request has had its answer."""
        user = request.caller.name
        self._write(
            f"{request.channel.address} - {'-' if user is None else escaped(user).replace(' ', '%20')} [{self._time()}] "
            f'"{text(request.method)} {text(request.uri)} {text(request.clientproto)}" {request.code} '
            f'{request.sentLength or "-"} "{text(request.getHeader(b"referer"))}" "{text(request.getHeader(b"user-agent"))}"\n'
        )

    def refused(self, address: str, status: HTTPStatus) -> None:
        """What somebody sent was not read to its end."""
        self._write(f'{address} - - [{self._time()}] "-" {status.value} - "-" "-"\n')

    def close(self) -> None:
        """Write what is left."""
        self.flush()
        self._file.close()

    def _time(self) -> str:
        now = int(self.now())
        if self._second[0] != now:
            self._second = now, time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now))
        return self._second[1]

    def _write(self, line: str) -> None:
        self._lines.append(line)
        self._waiting += len(line)
        if self._waiting > MOST_WAITING:
            self.flush()
        elif self._flush is None:
            self._flush = self.clock.callLater(DELAY, self.flush)

    def flush(self) -> None:
        """Write what waits."""
        if self._flush is not None and self._flush.active():
            self._flush.cancel()
        self._flush = None
        data = "".join(self._lines).encode("ascii", "backslashreplace")
        self._lines, self._waiting = [], 0
        if not data:
            return
        try:
            self._file.write(data)
        except OSError as error:
            self._complain(error)

    def _complain(self, error: OSError) -> None:
        now = self.clock.seconds()
        if self._complained is None or now - self._complained >= QUIET:
            self._complained = now
            log.warn("requests are not logged: {reason}", reason=reason(error))


def text(value: bytes | None) -> str:
    """What a client sent, escaped, with dots for what is too long of it; - for nothing."""
    if not value:
        return "-"
    return escaped(value[:LONGEST].decode("utf-8", "surrogateescape")) + ("..." if len(value) > LONGEST else "")
