"""Starting and ending daemons on this node, by systemd where it rules."""

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import define
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from ganeti_tx.errors import OpExecError
from ganeti_tx.runtime.daemon_control import (
    ASK_LIMIT,
    STOP_LIMIT,
    DaemonControl,
    not_started,
    reason,
)
from ganeti_tx.runtime.daemon_programs import own_program
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import CLEAN_ENV, IProcessRunner

log = Logger()

#: Seconds after which a daemon that does not end is killed, until it must be gone then, and between looks.
END_LIMIT = 15.0
KILL_LIMIT = 5.0
INTERVAL = 0.05
#: What a daemon inherits besides a clean environment: where it is, and which Python it runs with.
INHERITED = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "GANETI_ROOTDIR", "GANETI_HOSTNAME", "GANETI_REMOTE_SHELL")


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

    @property
    def control(self) -> DaemonControl:
        """How they are started and ended."""
        return DaemonControl.at(self.paths.root, self.files.exists)

    def run(self, daemons: Sequence[str]) -> list[int]:
        """The processes of those of some daemons that run."""
        found = [self.processes.holder(self.paths.pid_file(daemon)) for daemon in daemons]
        return sorted({process for process in found if process is not None})

    async def start(self, daemon: str) -> None:
        """Start one and wait until it is up. @raise OpExecError: it does not come up; the text has its reason."""
        control = self.control
        environment = {**CLEAN_ENV, **{name: os.environ[name] for name in INHERITED if name in os.environ}}
        argv = control.start_argv(daemon, self.processes.program)
        result = await self.runner.run(argv, env=environment, timeout=control.start_limit)
        if result.succeeded and (self.run([daemon]) or not control.by_systemd):
            return
        why = [await self._reason(control, daemon), "" if result.succeeded else result.describe()]
        raise OpExecError(not_started(daemon, why, control.log(daemon, self.paths.log_file(daemon))))

    async def _reason(self, control: DaemonControl, daemon: str) -> str:
        argv = control.reason_argv(daemon)
        if argv is None:
            return ""
        return reason((await self.runner.run(argv, timeout=ASK_LIMIT)).stdout.decode("utf-8", "replace"))

    async def stop(self, daemons: Sequence[str]) -> None:
        """Have some end, by force if need be; whether they do is for the caller to look."""
        argv = self.control.stop_argv(daemons)
        if argv is not None:
            await self.runner.run(argv, timeout=STOP_LIMIT)
        self.signal(self.run(daemons), signal.SIGTERM)
        if not await self.until(lambda: not self.run(daemons), END_LIMIT):
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
