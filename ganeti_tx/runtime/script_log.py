"""Where the output of scripts that sites add goes: a file for each run, written by the script itself as it goes."""

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from attrs import frozen

from ganeti_tx.errors import OpExecError
from ganeti_tx.runtime.own_directory import owner_fault

FILE_MODE = 0o640
DIRECTORY_MODE = 0o750

#: How much of a failed script's output goes into the error.
TAIL_LINES = 20
TAIL_BYTES = 4096
#: So much of a log is read at a time.
CHUNK = 1 << 20


class IScriptLog(Protocol):
    """A log that a script writes through a descriptor."""

    @property
    def path(self) -> Path:
        """Where it is."""

    @property
    def descriptor(self) -> int:
        """What the script writes to."""

    def tail(self) -> str:
        """The last lines, in one line; blocking. @raise OSError: it cannot be read."""

    def hide(self, values: Sequence[str]) -> None:
        """Write stars over each of some texts, once the script has ended; blocking. @raise OSError: it cannot be done.

        @param values: which may stand within each other.
        """

    def close(self) -> None:
        """The script has ended."""


#: A new log by its directory and name; blocking. @raise OpExecError: none can be made.
OpenLog = Callable[[Path, str], IScriptLog]


@frozen
class ScriptLog:
    """One open log; its descriptor is handed to the script and closed by `close`."""

    path: Path
    descriptor: int

    def tail(self) -> str:
        """The last lines, in one line; blocking. Of the file itself, whatever has its name by now: this goes to users."""
        start = max(0, os.fstat(self.descriptor).st_size - TAIL_BYTES)
        lines = os.pread(self.descriptor, TAIL_BYTES, start).decode("utf-8", "replace").splitlines()[-TAIL_LINES:]
        return " | ".join(line.strip() for line in lines if line.strip())

    def hide(self, values: Sequence[str]) -> None:
        """See `IScriptLog`."""
        flags = fcntl.fcntl(self.descriptor, fcntl.F_GETFL)
        fcntl.fcntl(self.descriptor, fcntl.F_SETFL, flags & ~os.O_APPEND)  # else what is written goes to the end
        if texts := [value.encode() for value in values if value]:
            self._hide(texts)

    def _hide(self, texts: Sequence[bytes]) -> None:
        """Read it once, in pieces; each with the end of the one before, in which a text may begin, as it was and as it is now."""
        end = max(map(len, texts)) - 1
        start, was, now = 0, b"", bytearray()
        while read := os.pread(self.descriptor, CHUNK, start + len(was)):
            was, now = was + read, now + read
            before = bytes(now)
            for text in texts:
                _star(text, was, now)
            if now != before:
                os.pwrite(self.descriptor, now, start)
            done = max(0, len(was) - end)
            start, was, now = start + done, was[done:], now[done:]

    def close(self) -> None:
        """Our own end; the script has its copy."""
        os.close(self.descriptor)


def _star(text: bytes, was: bytes, now: bytearray) -> None:
    """Stars into what there is now, wherever there was a text."""
    stars = b"*" * len(text)
    at = was.find(text)
    while at >= 0:
        now[at : at + len(text)] = stars
        at = was.find(text, at + len(text))


def log_end(log: IScriptLog) -> str:
    """What a log says of a script that failed, for people; blocking. A full disk, which may have kept it silent, is named."""
    try:
        said = log.tail()
    except OSError as error:
        said = f"unreadable: {error.strerror}"
    full = f"the disk of {log.path} is full" if _on_full_disk(log.descriptor) else ""
    if full and not said:
        return full
    return f"log {log.path} ends with: {said or 'nothing'}" + (f"; {full}" if full else "")


def _on_full_disk(descriptor: int) -> bool:
    try:
        found = os.fstatvfs(descriptor)
    except OSError:
        return False
    return found.f_blocks > 0 and found.f_bavail == 0


def log_name(action: str, os_name: str, instance_name: str, now: float) -> str:
    """Such as "add-debootstrap-web1.example.com-2012-03-04_05_06_07.log", by UTC."""
    parts = [part.replace("/", "_") for part in (action, os_name, instance_name)]
    return f"{'-'.join(parts)}-{datetime.fromtimestamp(now, UTC):%Y-%m-%d_%H_%M_%S}"


def open_log(directory: Path, name: str) -> ScriptLog:
    """A new log; one of that name (two runs within a second) is left alone. @raise OpExecError: none can be made."""
    try:
        directory.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        with _own(directory) as place:
            for attempt in range(100):
                file = f"{name}.log" if attempt == 0 else f"{name}.{attempt}.log"
                try:
                    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
                    return ScriptLog(directory / file, os.open(file, flags, FILE_MODE, dir_fd=place))
                except FileExistsError:
                    continue
    except OSError as error:
        raise OpExecError(f"cannot make a log for a script in {directory}: {error.strerror}")
    raise OpExecError(f"cannot make a log for a script: {directory} has too many named {name}")


@contextmanager
def _own(directory: Path) -> Iterator[int]:
    """It, opened. @raise OpExecError: others may have put it there, or may write to it. @raise OSError: it cannot be opened."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except NotADirectoryError:
        raise OpExecError(
            f"cannot make a log for a script: {directory} is not used: it is a link; move it away"
        ) from None
    try:
        found = os.fstat(descriptor)
        if fault := owner_fault(directory, found.st_uid, found.st_mode):
            raise OpExecError(f"cannot make a log for a script: {fault}")
        yield descriptor
    finally:
        os.close(descriptor)
