"""Starting and ending daemons on this node, by systemd where it rules."""

import os
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import define
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from ganeti_tx.errors import OpExecError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import CLEAN_ENV, IProcessRunner

log = Logger()

SYSTEMD = Path("/run/systemd/system")
#: Seconds that a start may take, the vote included; that a stop may; and between looks.
START_LIMIT = 120.0
STOP_LIMIT = 15.0
KILL_LIMIT = 5.0
INTERVAL = 0.05
#: What a daemon inherits besides a clean environment: where it is, and which Python it runs with.
INHERITED = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "GANETI_ROOTDIR", "GANETI_HOSTNAME", "GANETI_REMOTE_SHELL")


def own_program(daemon: str) -> str:
    """The daemon's program beside this Python, or on the search path. @raise OpExecError: there is none."""
    beside = Path(sys.executable).parent / daemon
    program = str(beside) if beside.exists() else shutil.which(daemon)
    if program is None:
        raise OpExecError(f"there is no program {daemon}; install ganeti_tx on this node")
    return program


@define
class MachineProcesses:
    """What this machine runs, as far as this node is concerned; by default nothing."""

    #: The process that holds a pid file.
    holder: Callable[[Path], int | None] = lambda path: None
    #: The processes of jobs, which hold livelocks here.
    jobs: Callable[[], Sequence[int]] = lambda: ()
    send_signal: Callable[[int, int], None] = os.kill
    #: Where a daemon's program is.
    program: Callable[[str], str] = own_program


@define
class LocalDaemons:
    """The daemons of this node, known by their pid files."""

    files: IFiles
    paths: Paths
    runner: IProcessRunner
    clock: IReactorTime
    processes: MachineProcesses

    def run(self, daemons: Sequence[str]) -> list[int]:
        """The processes of those of some daemons that run."""
        found = [self.processes.holder(self.paths.pid_file(daemon)) for daemon in daemons]
        return sorted({process for process in found if process is not None})

    async def start(self, daemon: str) -> None:
        """Start one. @raise OpExecError: it does not start; the text has its reason."""
        argv = ["systemctl", "start", daemon] if self._by_systemd() else [self.processes.program(daemon)]
        environment = {**CLEAN_ENV, **{name: os.environ[name] for name in INHERITED if name in os.environ}}
        result = await self.runner.run(argv, env=environment, timeout=START_LIMIT)
        if not result.succeeded:
            raise OpExecError(f"{daemon} did not start: {result.describe()}; see {self.paths.log_file(daemon)}")

    async def stop(self, daemons: Sequence[str]) -> None:
        """Have some end, by force if need be; whether they do is for the caller to look."""
        if self._by_systemd():
            await self.runner.run(["systemctl", "stop", *daemons], timeout=STOP_LIMIT * 2)
        self.signal(self.run(daemons), signal.SIGTERM)
        if not await self.until(lambda: not self.run(daemons), STOP_LIMIT):
            self.signal(self.run(daemons), signal.SIGKILL)

    def signal(self, targets: Sequence[int], number: int) -> None:
        """Send a signal to processes; those that are gone need none."""
        for process in targets:
            try:
                self.processes.send_signal(process, number)
            except ProcessLookupError:
                continue
            log.info("process {process} got signal {number}", process=process, number=int(number))

    async def until(self, done: Callable[[], Any], limit: float) -> bool:
        """Whether it came to pass within so many seconds."""
        deadline = self.clock.seconds() + limit
        while not done():
            if self.clock.seconds() >= deadline:
                return False
            await deferLater(self.clock, INTERVAL)
        return True

    def _by_systemd(self) -> bool:
        return self.paths.root == Path("/") and self.files.exists(SYSTEMD)
