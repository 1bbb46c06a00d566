"""Programs run on a machine of the lab, for tests that take what they await at once: who asks is held until it is done."""

import os
import select
import struct
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import cast

from attrs import define, field
from twisted.internet.defer import Deferred, succeed
from zope.interface import implementer

from ganeti_tx.runtime.process import (
    CLEAN_ENV,
    DEFAULT_OUTPUT_LIMIT,
    DEFAULT_TIMEOUT,
    IProcessRunner,
    ProcessResult,
)
from ganeti_tx.test.lab.messages import (
    UNREACHABLE,
    Answer,
    Detach,
    Detached,
    Ended,
    Refused,
    Request,
    Run,
    answer,
    framed,
)

#: Seconds beyond a program's own time until the machine counts as dead.
PATIENCE = 60.0
LENGTH = 4
CHUNK = 1 << 16


class Unreachable(Exception):
    """The machine does not answer."""


@implementer(IProcessRunner)
@define(eq=False)
class BlockingRunner:
    """Its Deferreds have fired when they are returned. `to_agent` is the command that connects to a machine's agent.

    A machine that cannot be reached gives status 255; the next program is tried again.
    """

    _to_agent: Callable[[], Sequence[str]]
    _name: str
    _calls: "count[int]" = field(factory=count)
    _connection: "subprocess.Popen[bytes] | None" = None

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] = CLEAN_ENV,
        cwd: Path | None = None,
        stdin: bytes = b"",
        timeout: float = DEFAULT_TIMEOUT,
        output_limit: int = DEFAULT_OUTPUT_LIMIT,
        child_fds: Mapping[int, int] | None = None,
    ) -> Deferred[ProcessResult]:
        """See `IProcessRunner`. @raise ValueError: descriptors were given."""
        if child_fds:
            raise ValueError("descriptors do not travel to another machine")
        place = str(cwd) if cwd is not None else None
        wanted = Run(next(self._calls), list(argv), dict(env), place, stdin, timeout, output_limit)
        try:
            ended = self._answer(wanted, timeout + PATIENCE)
        except Unreachable as error:
            return succeed(ProcessResult(status=UNREACHABLE, stderr=str(error).encode()))
        return succeed(cast(Ended, ended).result)

    def run_detached(
        self, argv: Sequence[str], *, log: Path, env: Mapping[str, str] = CLEAN_ENV, cwd: Path | None = None
    ) -> int:
        """See `IProcessRunner`. @raise OSError: also when the machine cannot be reached."""
        place = str(cwd) if cwd is not None else None
        try:
            found = self._answer(Detach(next(self._calls), list(argv), dict(env), place, str(log)), PATIENCE)
        except Unreachable as error:
            raise ConnectionError(str(error)) from None
        if isinstance(found, Refused):
            raise OSError(found.errno, found.text)
        return cast(Detached, found).pid

    def close(self) -> None:
        """End the connection, and what runs."""
        if self._connection is not None:
            self._connection.kill()
            self._connection.communicate()
            self._connection = None

    def _answer(self, wanted: Request, limit: float) -> Answer:
        deadline = time.monotonic() + limit
        try:
            self._send(framed(wanted))
            (length,) = struct.unpack("!I", self._read(LENGTH, deadline))
            return answer(self._read(length, deadline))
        except (OSError, Unreachable) as error:
            self.close()
            raise Unreachable(f"{self._name}: {error}") from None

    def _send(self, data: bytes) -> None:
        if self._connection is not None and self._connection.poll() is not None:
            self.close()
        if self._connection is None:
            self._connection = subprocess.Popen(
                self._to_agent(), bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        assert self._connection.stdin is not None
        while data:
            data = data[self._connection.stdin.write(data) :]

    def _read(self, size: int, deadline: float) -> bytes:
        assert self._connection is not None and self._connection.stdout is not None
        descriptor = self._connection.stdout.fileno()
        data = bytearray()
        while len(data) < size:
            if not select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise Unreachable("it did not answer in time")
            more = os.read(descriptor, min(CHUNK, size - len(data)))
            if not more:
                raise Unreachable("the connection was closed")
            data += more
        return bytes(data)
