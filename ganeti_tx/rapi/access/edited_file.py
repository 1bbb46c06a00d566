"""Changing one entry of a file of lines, with all else in it left as the administrator wrote it."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from ganeti_tx.errors import ConfigurationError, LockError
from ganeti_tx.model.line_file import LineError, entries
from ganeti_tx.rapi.access.watched_file import MAX_FILE_SIZE
from ganeti_tx.runtime.file_lock import hold
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.ownership import Owners
from ganeti_tx.runtime.path_modes import GROUPS, USERS, mode_of_file
from ganeti_tx.runtime.rapi_files import RAPI_FILES

LOCK_NAME = ".lock"


@contextmanager
def one_at_a_time(directory: Path) -> Iterator[None]:
    """Nobody else changes the files of a directory meanwhile. @raise LockError: somebody does"""
    try:
        held = hold(directory / LOCK_NAME, 0o600)
    except LockError:
        raise LockError(f"another ganeti-rapi-access is changing the files in {directory}; try again") from None
    try:
        yield
    finally:
        held.release()


@frozen
class EditedFile:
    """A file of rapi/ as the administrator's command changes it.

    @ivar parse: finds faults in it; a file that has some is not changed.
    """

    files: IFiles
    path: Path
    parse: Callable[[bytes], object]
    owners: Owners

    def read(self) -> bytes:
        """What is in it; nothing if it is not there. Its directory is the daemon's user's, so no link of his is followed.

        @raise ConfigurationError: it has a fault. @raise OSError: it cannot be read, or is a link
        """
        data = self.files.read(self.path, MAX_FILE_SIZE, links=False) if self.files.exists(self.path) else b""
        try:
            self.parse(data)
        except LineError as error:
            raise ConfigurationError(f"{self.path}: {error}; mend the file first") from None
        return data

    def put(self, name: str, line: str | None) -> None:
        """Let a line be the entry of a name, in place of the one that there is, or without a line let there be none."""
        data = self.read()
        lines = data.decode().removesuffix("\n").split("\n") if data else []  # as `entries` counts them
        places = [number - 1 for number, entry in entries(data) if entry.split()[0] == name]
        new = [] if line is None else [line]
        if places:
            lines[places[0] : places[0] + 1] = new
            shift = len(new) - 1
            for place in reversed(places[1:]):  # of several entries of one name only the last would count
                del lines[place + shift]
        else:
            lines += new
        self._write("".join(f"{each}\n" for each in lines).encode())

    def _write(self, data: bytes) -> None:
        """It takes its place only when it belongs to the daemon, who looks at it at once."""
        self.parse(data)
        wanted = mode_of_file(RAPI_FILES[self.path.name])
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}-new.tmp")
        done(Deferred.fromCoroutine(self.files.write_atomic(beside, data, wanted.mode)))
        owner = self.owners(USERS[wanted.owner], GROUPS[wanted.group])
        if owner is not None:
            self.files.set_owner(beside, *owner)
        self.files.rename(beside, self.path)


def done(deferred: Deferred[None]) -> None:
    """Wait for what needs no reactor. @raise OSError: it failed"""
    failures: list[Failure] = []
    deferred.addErrback(failures.append)
    assert deferred.called
    for failure in failures:
        failure.raiseException()
