"""The script in an instance's root that starts it, stops it and tells whether it runs.

It is run below that root as PATH start, PATH stop and PATH status, as scripts in /etc/init.d are.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.chroot.layout import ChrootLayout
from ganeti_tx.node.hypervisor.chroot.record import ChrootRecord
from ganeti_tx.node.hypervisor.scopes import Scopes
from ganeti_tx.runtime.process import CLEAN_ENV, NOT_EXECUTABLE, NOT_FOUND, IProcessRunner, ProcessResult

#: Seconds for `start`, as long as systemd gives a service, and for `status`, which lists of instances wait for.
START_LIMIT = 90.0
STATUS_LIMIT = 10.0
LOG_MODE = 0o640
#: Bytes at the end of a log in which the reason of a failure is looked for.
LAST_WORDS = 4096
#: What `status` exits with: it runs; and in the Linux Standard Base's words it is dead (1, 2) or does not run (3).
RUNS = 0
RUNS_NOT = (1, 2, 3)


@frozen
class InitScripts:
    """Runs them. What a start leaves running is in a scope of its own where it would else end with the node daemon's unit."""

    runner: IProcessRunner
    scopes: Scopes

    async def start(self, layout: ChrootLayout, record: ChrootRecord) -> None:
        """@raise HypervisorError: it did not end well; some of it may run."""
        await self._tell(layout, record, "start", START_LIMIT)

    async def stop(self, layout: ChrootLayout, record: ChrootRecord, limit: float) -> None:
        """@raise HypervisorError: it did not end well."""
        await self._tell(layout, record, "stop", limit)

    async def runs(self, layout: ChrootLayout, record: ChrootRecord) -> bool:
        """What it says. @raise HypervisorError: it says something else."""
        argv, env = _call(layout, record, "status")
        result = await self.runner.run(argv, env=env, timeout=STATUS_LIMIT)
        if result.timed_out or result.status not in (RUNS, *RUNS_NOT):
            raise HypervisorError(_failure(record, "status", result))
        return result.status == RUNS

    async def _tell(self, layout: ChrootLayout, record: ChrootRecord, word: str, limit: float) -> None:
        """What it leaves running has the log for its output: a pipe would be waited for until all of that has ended."""
        log = self._open(layout.log)
        try:
            before = os.fstat(log).st_size
            argv, env = _call(layout, record, word)
            if word == "start" and self.scopes.needed():
                argv = self.scopes.around(argv, layout.name, layout.name)
            result = await self.runner.run(argv, env=env, timeout=limit, child_fds={1: log, 2: log})
            if not result.succeeded:
                raise HypervisorError(f"{_failure(record, word, result, _last_line(log, before))}{more_in(layout)}")
        finally:
            os.close(log)

    def length(self, layout: ChrootLayout) -> int:
        """Bytes that its log has."""
        with suppress(FileNotFoundError):
            return layout.log.lstat().st_size
        return 0

    def said_since(self, layout: ChrootLayout, start: int) -> str:
        """The last line that its log has got since it was that long, and where the log is, behind what went wrong."""
        log = self._open(layout.log)
        try:
            last = _last_line(log, start)
        finally:
            os.close(log)
        return (f": {last}" if last else "") + more_in(layout)

    def _open(self, path: Path) -> int:
        try:
            return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, LOG_MODE)
        except OSError as error:
            raise HypervisorError(f"cannot open its log {path}: {error.strerror}")


def more_in(layout: ChrootLayout) -> str:
    """Where all is that was said."""
    return f" (see {layout.log})"


def _call(layout: ChrootLayout, record: ChrootRecord, word: str) -> tuple[list[str], Mapping[str, str]]:
    """The program with its arguments, and its environment."""
    return ["chroot", "--", str(layout.root), record.init_script, word], {**CLEAN_ENV, **record.environment}


def _failure(record: ChrootRecord, word: str, result: ProcessResult, said: str = "") -> str:
    if result.status in (NOT_FOUND, NOT_EXECUTABLE) and not result.timed_out:
        return (
            f"its root has no program {record.init_script} (init_script) that can be run: {said or result.describe()}"
        )
    return f"'{record.init_script} {word}' {result.describe()}" + (f": {said}" if said else "")


def _last_line(log: int, start: int) -> str:
    """Of what was said since the log was that long."""
    end = os.fstat(log).st_size
    first = max(start, end - LAST_WORDS)
    lines = os.pread(log, LAST_WORDS, first).decode("utf-8", "replace").strip().splitlines() if end > first else []
    return lines[-1].strip()[:500] if lines else ""
