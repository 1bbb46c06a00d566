"""The script in an instance's root that starts it, stops it and tells whether it runs.

It is run below that root as PATH start, PATH stop and PATH status, as scripts in /etc/init.d are.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.chroot.layout import ChrootLayout
from ganeti_tx.node.hypervisor.chroot.record import ChrootRecord
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
    """Runs them."""

    runner: IProcessRunner

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
            result = await self.runner.run(argv, env=env, timeout=limit, child_fds={1: log, 2: log})
            if not result.succeeded:
                raise HypervisorError(_failure(record, word, result, _last_line(log, before)))
        finally:
            os.close(log)

    def _open(self, path: Path) -> int:
        try:
            return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, LOG_MODE)
        except OSError as error:
            raise HypervisorError(f"cannot open its log {path}: {error.strerror}")


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
