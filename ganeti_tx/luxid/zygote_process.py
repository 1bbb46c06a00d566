"""luxid's end of the zygote: it is kept alive, asked for runners, and heard about those that ended."""

import os
import sys
from collections.abc import Callable, Mapping
from enum import Enum

from attrs import define, field
from twisted.internet.interfaces import IDelayedCall, IProcessTransport
from twisted.internet.protocol import ProcessProtocol
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.own_modules import module_argv
from ganeti_tx.runtime.lifecycle import Lifecycle
from ganeti_tx.runtime.reactors import IProcessReactor

log = Logger()

FORK = b"f"
#: The zygote's descriptors: orders, output, complaints, and a line for each runner that ended.
REPORTS = 3
DESCRIPTORS = {0: "w", 1: "r", 2: "r", REPORTS: "r"}
#: Seconds before a zygote that died is replaced: the first, and what each further death at once makes of it at most.
RESTART_DELAY = 0.1
MAX_RESTART_DELAY = 10.0
#: Seconds for which a zygote must live until the deaths before are forgotten.
GOOD_LIFE = 5.0
#: No report is nearly as long.
MAX_LINE = 64


class ZygoteOutput(ProcessProtocol):
    """What the zygote and its runners say goes into our log; its reports go to `runner_ended` as process id and status."""

    def __init__(self, ended: Callable[[], None], runner_ended: Callable[[int, int], None]) -> None:
        self._ended = ended
        self._runner_ended = runner_ended
        self._unfinished = b""

    def childDataReceived(self, childFD: int, data: bytes) -> None:
        if childFD == REPORTS:
            *lines, rest = (self._unfinished + data).split(b"\n")
            self._unfinished = rest[:MAX_LINE]
            for line in lines:
                self._report(line)
        else:
            for said in data.decode("utf-8", "replace").splitlines():
                log.info("job process: {line}", line=said)

    def _report(self, line: bytes) -> None:
        try:
            process_id, status = map(int, line.split())
        except ValueError:
            log.error("not a report of the zygote: {line}", line=line)
            return
        self._runner_ended(process_id, status)

    def processExited(self, reason: Failure) -> None:
        self._ended()


class State(Enum):
    """What there is of the zygote."""

    NEW = "not started yet"
    RUNNING = "a process"
    DEAD = "none until the pause is over"
    STOPPED = "none any more, or one that was told to end"


FOLLOWING: Mapping[State, frozenset[State]] = {
    State.NEW: frozenset({State.RUNNING, State.STOPPED}),
    State.RUNNING: frozenset({State.DEAD, State.STOPPED}),
    State.DEAD: frozenset({State.RUNNING, State.STOPPED}),
    State.STOPPED: frozenset(),
}


def _new() -> Lifecycle[State]:
    return Lifecycle(FOLLOWING, State.NEW)


@define
class Zygote:
    """Starts the zygote and starts it again when it dies. `died` is told, since asked-for forks are lost with it."""

    reactor: IProcessReactor
    died: Callable[[], None]
    runner_ended: Callable[[int, int], None]
    _lifecycle: Lifecycle[State] = field(factory=_new, init=False)
    _process: IProcessTransport | None = field(default=None, init=False)
    _restarting: IDelayedCall | None = field(default=None, init=False)
    _delay: float = field(default=RESTART_DELAY, init=False)
    _started: float = field(default=0.0, init=False)

    def start(self) -> None:
        """Start it now. @raise OSError: it cannot be."""
        self._lifecycle.enter(State.RUNNING)
        argv = module_argv("ganeti_tx.jobs.zygote")
        output = ZygoteOutput(self._ended, self.runner_ended)
        self._started = self.reactor.seconds()
        self._process = self.reactor.spawnProcess(
            output, sys.executable, argv, env=dict(os.environ), childFDs=DESCRIPTORS
        )

    def fork(self) -> None:
        """Ask for one more runner; one that is just dying does not hear it, and its successor is asked again."""
        if self._process is not None:
            self._process.write(FORK)

    def stop(self) -> None:
        """End it; runners that have a job go on."""
        if self._lifecycle.state is State.STOPPED:
            return
        self._lifecycle.enter(State.STOPPED)
        if self._process is not None:
            self._process.closeStdin()
        if self._restarting is not None:
            self._restarting.cancel()
        self._process = self._restarting = None

    def _ended(self) -> None:
        if self._lifecycle.state is State.STOPPED:
            return
        self._lifecycle.enter(State.DEAD)
        self._process = None
        lived = self.reactor.seconds() - self._started
        self._delay = RESTART_DELAY if lived > GOOD_LIFE else min(self._delay * 2, MAX_RESTART_DELAY)
        log.error("the zygote of the job processes died; starting another in {delay} s", delay=self._delay)
        self._restarting = self.reactor.callLater(self._delay, self._restart)

    def _restart(self) -> None:
        self._restarting = None
        try:
            self.start()
        except OSError as error:  # no more open files, processes or memory, perhaps not for long
            self._lifecycle.enter(State.DEAD)
            log.error("no zygote can be started: {error}; trying again in {delay} s", error=error, delay=self._delay)
            self._delay = min(self._delay * 2, MAX_RESTART_DELAY)
            self._restarting = self.reactor.callLater(self._delay, self._restart)
            return
        self.died()
