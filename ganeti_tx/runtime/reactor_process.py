"""Programs started through the reactor."""

import os
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Literal, cast

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessTerminated
from twisted.internet.interfaces import IDelayedCall, IProcessTransport, IReactorProcess, IReactorTime
from twisted.internet.process import Process
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.runtime.lifecycle import Lifecycle
from ganeti_tx.runtime.log_limit import LogLimit
from ganeti_tx.runtime.process import (
    CLEAN_ENV,
    DEFAULT_OUTPUT_LIMIT,
    DEFAULT_TIMEOUT,
    NOT_EXECUTABLE,
    NOT_FOUND,
    IProcessRunner,
    ProcessResult,
)
from ganeti_tx.runtime.program_records import ProgramRecords

#: Seconds a program has between TERM and KILL, and again between KILL and the closing of its pipes.
GRACE = 5.0
#: Seconds in which what a program has said arrives once it has ended, whoever holds its pipes still.
HELD = 2.0

#: Makes the program the leader of a session, hence of a process group; it execs the program and keeps its pid.
SETSID = "/usr/bin/setsid"

#: Bytes of one argument, or of one variable with its name (MAX_ARG_STRLEN, without the NUL at its end).
LONGEST = 128 * 1024 - 1
#: Bytes that all of them may take together, and what the kernel (a pointer each) and `SETSID` add.
TOGETHER = os.sysconf("SC_ARG_MAX") - 8192
POINTER = 8
CANNOT_HAVE = f"is longer than {LONGEST} bytes, or has a character that it cannot have"

#: The log of a detached program; only its owner and group read it.
LOG_MODE = 0o640


@implementer(IProcessRunner)
@frozen
class ReactorProcessRunner:
    """Runs programs as children of this process, each in a process group of its own."""

    processes: IReactorProcess
    clock: IReactorTime
    #: Where it is written down what runs, so that the next daemon can end it; not for what is detached.
    records: ProgramRecords | None = None

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
        """See `IProcessRunner`."""
        child = _Child(self.clock, stdin, output_limit)
        if fault := unusable(argv, env):
            child.ended.callback(ProcessResult(status=NOT_EXECUTABLE, stderr=fault.encode()))
            return child.ended
        program = find_program(argv[0], env)
        if program is None:
            child.ended.callback(ProcessResult(status=NOT_FOUND, stderr=f"{argv[0]}: command not found".encode()))
            return child.ended
        descriptors: dict[int, int | Literal["r", "w"]] = {0: "w", 1: "r", 2: "r", **(child_fds or {})}
        try:
            child.logs = LogLimit(self.clock, (child_fds or {}).values())
            self._spawn_recorded(child, program, argv, env, cwd, descriptors)
        except OSError as error:  # no process more, no memory, too much to hand on
            child.end_logs()
            fault = f"{argv[0]}: cannot be started: {os.strerror(error.errno or 0)}"
            child.ended.callback(ProcessResult(status=NOT_EXECUTABLE, stderr=fault.encode()))
            return child.ended
        child.limit_time(timeout)
        return child.ended

    def _spawn_recorded(
        self,
        child: "_Child",
        program: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: Path | None,
        descriptors: dict[int, int | Literal["r", "w"]],
    ) -> None:
        records = self.records
        path = records.begin(program) if records is not None else None
        if records is None or path is None:
            self._spawn(child, program, argv, env, cwd, descriptors)
            return
        child.forget = partial(records.ended, path)
        try:
            process = self._spawn(child, program, argv, env, cwd, descriptors)
        except BaseException:
            child.forget()
            raise
        records.started(path, cast(int, process.pid))

    def run_detached(
        self, argv: Sequence[str], *, log: Path, env: Mapping[str, str] = CLEAN_ENV, cwd: Path | None = None
    ) -> int:
        """See `IProcessRunner`."""
        program = find_program(argv[0], env)
        if program is None:
            raise FileNotFoundError(f"{argv[0]}: command not found")
        opened = [os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)]
        try:
            opened.append(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, LOG_MODE))
            descriptors: dict[int, int | Literal["r", "w"]] = {0: opened[0], 1: opened[1], 2: opened[1]}
            child = self._spawn(ProcessProtocol(), program, argv, env, cwd, descriptors)
        finally:
            for descriptor in opened:
                os.close(descriptor)
        return cast(int, child.pid)

    def _spawn(
        self,
        protocol: ProcessProtocol,
        program: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: Path | None,
        descriptors: dict[int, int | Literal["r", "w"]],
    ) -> IProcessTransport:
        command = [SETSID, program, *argv[1:]]
        return self.processes.spawnProcess(
            protocol, SETSID, command, env=dict(env), path=str(cwd) if cwd else None, childFDs=descriptors
        )


def unusable(argv: Sequence[str], env: Mapping[str, str]) -> str | None:
    """Why no program can be started so. Values are not told: they may be secret."""
    for name, value in env.items():
        if "=" in name or not fits(f"{name}={value}"):
            return f"cannot be started: the variable {name[:100]!r} or its value {CANNOT_HAVE}"
    if not all(map(fits, argv)):
        return f"cannot be started: an argument {CANNOT_HAVE}"
    texts = [*argv, *(f"{name}={value}" for name, value in env.items())]
    size = sum(len(os.fsencode(text)) + 1 + POINTER for text in texts)
    return (
        None if size <= TOGETHER else f"cannot be started: its arguments and variables take {size} bytes, of {TOGETHER}"
    )


def fits(text: str) -> bool:
    """Whether the kernel hands it on."""
    return "\0" not in text and len(os.fsencode(text)) <= LONGEST


def find_program(name: str, env: Mapping[str, str]) -> str | None:
    """The absolute path of a program, looked up in the PATH of the environment it will get."""
    found = shutil.which(name, path=env.get("PATH", CLEAN_ENV["PATH"]))
    return os.path.abspath(found) if found else None


class State(Enum):
    """How far a program is."""

    STARTING = "not started yet"
    RUNNING = "running"
    EXITED = "ended, and its pipes may be held by what it has left"
    TERMINATED = "sent TERM, with some time left"
    KILLED = "sent KILL"
    CLOSED = "its pipes were closed, which somebody else may have held"
    ENDED = "ended, and nobody holds its pipes"


FOLLOWING: Mapping[State, frozenset[State]] = {
    State.STARTING: frozenset({State.RUNNING}),
    State.RUNNING: frozenset({State.EXITED, State.TERMINATED, State.ENDED}),
    State.EXITED: frozenset({State.CLOSED, State.ENDED}),
    State.TERMINATED: frozenset({State.KILLED, State.ENDED}),
    State.KILLED: frozenset({State.CLOSED, State.ENDED}),
    State.CLOSED: frozenset({State.ENDED}),
    State.ENDED: frozenset(),
}


class _Child(ProcessProtocol):
    """One program: collects what it says, ends it when its time is over."""

    def __init__(self, clock: IReactorTime, stdin: bytes, output_limit: int) -> None:
        self.ended: Deferred[ProcessResult] = Deferred(self._cancel)
        self._clock = clock
        self._stdin = stdin
        self._limit = output_limit
        self._output = {1: bytearray(), 2: bytearray()}
        self._truncated = False
        self._timed_out = False
        self._lifecycle = Lifecycle(FOLLOWING, State.STARTING)
        self._process: Process
        self._pid: int
        self._timer: IDelayedCall | None = None
        #: What it writes itself.
        self.logs: LogLimit | None = None
        #: Called once it has ended.
        self.forget: Callable[[], None] = lambda: None

    def limit_time(self, timeout: float) -> None:
        """Begin to end the program when `timeout` seconds are over."""
        if self._lifecycle.state is State.RUNNING:
            self._wait(timeout, self._time_is_over)

    def end_logs(self) -> None:
        """Nothing more is written."""
        if self.logs is not None:
            self.logs.end()

    def connectionMade(self) -> None:
        self._enter(State.RUNNING)
        process = self._process = cast(Process, self.transport)
        self._pid = cast(int, process.pid)
        if 0 in process.pipes:
            process.write(self._stdin)
            process.closeStdin()

    def childDataReceived(self, childFD: int, data: bytes) -> None:
        output = self._output[childFD]
        room = self._limit - len(output)
        self._truncated = self._truncated or len(data) > room
        output += data[:room]

    def processExited(self, reason: Failure) -> None:
        """What it has started may hold its pipes, and is not waited for; only what is over its time is ended with that."""
        if self._lifecycle.state is State.RUNNING:
            self._enter(State.EXITED)
            self._wait(HELD, lambda: self._wait(0, lambda: self._let_go(reason)))  # after a look at the pipes

    def processEnded(self, reason: Failure) -> None:
        self._enter(State.ENDED)
        self._tell(reason)

    def _let_go(self, reason: Failure) -> None:
        self._close()
        self._tell(reason)

    def _tell(self, reason: Failure) -> None:
        self.forget()
        self.end_logs()
        if not self.ended.called:  # else it was told already, or cancelled
            self.ended.callback(self._result(reason))

    def _result(self, reason: Failure) -> ProcessResult:
        value = reason.value
        return ProcessResult(
            status=value.exitCode if isinstance(value, ProcessTerminated) else 0,
            signal=value.signal if isinstance(value, ProcessTerminated) else None,
            stdout=bytes(self._output[1]),
            stderr=bytes(self._output[2]),
            timed_out=self._timed_out,
            truncated=self._truncated,
        )

    def _time_is_over(self) -> None:
        self._timed_out = True
        self._end()

    def _cancel(self, _ended: object) -> None:
        """End the program, unless that has begun."""
        if self._lifecycle.state is State.RUNNING:
            self._end()

    def _end(self) -> None:
        self._enter(State.TERMINATED)
        self._signal(signal.SIGTERM)
        self._wait(GRACE, self._kill)

    def _kill(self) -> None:
        self._enter(State.KILLED)
        self._signal(signal.SIGKILL)
        self._wait(GRACE, self._close)

    def _close(self) -> None:
        self._enter(State.CLOSED)
        self._process.loseConnection()

    def _enter(self, state: State) -> None:
        """Go on to a state; what the one before waited for is waited for no longer."""
        self._lifecycle.enter(state)
        if self._timer is not None and self._timer.active():
            self._timer.cancel()

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        self._timer = self._clock.callLater(seconds, then)

    def _signal(self, number: signal.Signals) -> None:
        """To the whole group; to the child alone while it has not yet become the leader of one."""
        try:
            os.killpg(self._pid, number)
        except ProcessLookupError:
            if self._process.pid is not None:  # else it has ended, only its pipes are open; its number may be another's
                os.kill(self._pid, number)
