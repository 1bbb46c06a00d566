"""Node calls about the master role: the node's vote, and starting and stopping the master daemons on it."""

import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from ganeti_tx.errors import OpExecError
from ganeti_tx.mastership.own_ballot import own_ballot, ssconf_master
from ganeti_tx.node.dispatch import Method
from ganeti_tx.rpc.calls import (
    Ballot,
    MasterNodeName,
    MasterVote,
    NodeCall,
    NodeStartMasterDaemons,
    NodeStopMaster,
)
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import CLEAN_ENV, IProcessRunner
from ganeti_tx.runtime.threads import IThreads

log = Logger()

DAEMONS = ("ganeti-master", "ganeti-luxid", "ganeti-wconfd")
SYSTEMD = Path("/run/systemd/system")
#: Seconds that a start may take, the vote included; that a stop may; and between looks.
START_LIMIT = 120.0
STOP_LIMIT = 15.0
KILL_LIMIT = 5.0
INTERVAL = 0.05
NO_VOTING_MODE = 0o600
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
    """What this machine runs, as far as the master role is concerned; by default nothing."""

    #: The process that holds a pid file.
    holder: Callable[[Path], int | None] = lambda path: None
    #: The processes of jobs, which hold livelocks here.
    jobs: Callable[[], Sequence[int]] = lambda: ()
    send_signal: Callable[[int, int], None] = os.kill
    #: Where a daemon's program is.
    program: Callable[[str], str] = own_program


@define
class MasterRoleCalls:
    """The vote is read from the files; daemons are started and stopped by systemd where it rules."""

    files: IFiles
    paths: Paths
    threads: IThreads
    runner: IProcessRunner
    clock: IReactorTime
    processes: MachineProcesses

    def table(self) -> Mapping[type[NodeCall], Method]:
        """Which call is which method."""
        return {
            MasterVote: self.vote,
            MasterNodeName: self.master_name,
            NodeStartMasterDaemons: self.start,
            NodeStopMaster: self.stop,
        }

    async def vote(self, call: MasterVote) -> Ballot:
        """This node's ballot; a large configuration is read beside the daemon's other work."""
        return await self.threads.run(own_ballot, self.files, self.paths)

    async def master_name(self, call: MasterNodeName) -> str:
        """The master by simple configuration."""
        return ssconf_master(self.files, self.paths) or ""

    async def start(self, call: NodeStartMasterDaemons) -> None:
        """Start the master daemon and wait until it is up. @raise OpExecError: it is not; the text has its reason."""
        if any(self.processes.holder(self.paths.pid_file(daemon)) for daemon in DAEMONS):
            return
        if call.no_voting:
            await self.files.write_atomic(self.paths.no_voting_file, b"", NO_VOTING_MODE)
        try:
            await self._start()
        finally:
            forget_spared_vote(self.files, self.paths)

    async def _start(self) -> None:
        argv = ["systemctl", "start", DAEMONS[0]] if self._by_systemd() else [self.processes.program(DAEMONS[0])]
        environment = {**CLEAN_ENV, **{name: os.environ[name] for name in INHERITED if name in os.environ}}
        result = await self.runner.run(argv, env=environment, timeout=START_LIMIT)
        if not result.succeeded:
            raise OpExecError(f"{DAEMONS[0]} did not start: {result.describe()}; see {self._log()}")
        if not await self._until(lambda: self.files.exists(self.paths.query_socket), START_LIMIT):
            raise OpExecError(
                f"{DAEMONS[0]} was started but does not answer within {START_LIMIT:.0f} s; see {self._log()}"
            )

    def _log(self) -> Path:
        return self.paths.log_file(DAEMONS[0])

    def _by_systemd(self) -> bool:
        return self.paths.root == Path("/") and self.files.exists(SYSTEMD)

    async def stop(self, call: NodeStopMaster) -> None:
        """Stop every master daemon and end the jobs' processes. @raise OpExecError: one of them does not end."""
        if self._by_systemd():
            await self.runner.run(["systemctl", "stop", *DAEMONS], timeout=STOP_LIMIT * 2)
        self._signal(self._daemons(), signal.SIGTERM)
        if not await self._until(lambda: not self._daemons(), STOP_LIMIT):
            self._signal(self._daemons(), signal.SIGKILL)
        self._signal(self.processes.jobs(), signal.SIGKILL)
        if not await self._until(lambda: not self._daemons() and not self.processes.jobs(), KILL_LIMIT):
            left = ", ".join(str(each) for each in [*self._daemons(), *self.processes.jobs()])
            raise OpExecError(f"the master daemons do not end (processes {left})")

    def _daemons(self) -> list[int]:
        found = [self.processes.holder(self.paths.pid_file(daemon)) for daemon in DAEMONS]
        return sorted({process for process in found if process is not None})

    def _signal(self, targets: Sequence[int], number: int) -> None:
        for process in targets:
            try:
                self.processes.send_signal(process, number)
            except ProcessLookupError:
                continue
            log.info("process {process} got signal {number}", process=process, number=int(number))

    async def _until(self, done: Callable[[], Any], limit: float) -> bool:
        """Whether it came to pass in time."""
        deadline = self.clock.seconds() + limit
        while not done():
            if self.clock.seconds() >= deadline:
                return False
            await deferLater(self.clock, INTERVAL)
        return True


def forget_spared_vote(files: IFiles, paths: Paths) -> None:
    """A node daemon that was killed while a start without votes was under way must not spare later ones the vote."""
    if files.exists(paths.no_voting_file):
        files.remove(paths.no_voting_file)
