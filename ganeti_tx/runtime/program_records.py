"""Which programs a daemon waits for: after its death the next one ends those that still run, with all of their sessions.

What a daemon started lives on when it is killed, and may go on writing to a device that is somebody else's by then. A program
that has ended in order is forgotten, whatever it has left running.
"""

import errno
import os
import signal
import stat
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
from attrs import define, field, frozen
from twisted.logger import Logger

from ganeti_tx.runtime.boot_id import BOOT_ID

log = Logger()

DIRECTORY_MODE, FILE_MODE = 0o700, 0o600
#: The rights of others to write.
OF_OTHERS = 0o022
#: Bytes of a record that are read.
MAX_RECORD = 64 * 1024
#: Seconds until what does not end at TERM gets KILL, until that is waited for no longer, and between two looks.
TERM_TIME, KILL_TIME, LOOK = 5.0, 5.0, 0.05
#: In which process ids mean what they do: a container may be started again without a boot of the machine.
PROCESSES = "/proc/self/ns/pid"
#: proc(5), "stat", counted behind the name: state, parent, session, start.
STATE, PARENT, SESSION, START = 0, 1, 3, 19


class ProgramRecord(msgspec.Struct, frozen=True):
    """One program: where it is, the boot and the container it was started in, and not before which time (ticks since that boot)."""

    program: str
    boot: str
    since: int


class Leader(msgspec.Struct, frozen=True):
    """The process that it became, the leader of a session; told once it is there."""

    pid: int
    started: int


@frozen
class Running:
    """A process of this machine."""

    pid: int
    parent: int
    session: int
    started: int  # ticks since the boot


def look(pid: int | str) -> Running | None:
    """One process, if it is there and has not ended."""
    try:
        told = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    if told[STATE] in {b"Z", b"X"}:
        return None
    return Running(int(pid), int(told[PARENT]), int(told[SESSION]), int(told[START]))


def running() -> Mapping[int, Running]:
    """All processes, by their ids."""
    found = (look(name) for name in os.listdir("/proc") if name.isdigit())
    return {each.pid: each for each in found if each is not None}


def command_of(pid: int) -> list[str]:
    """The arguments of a process; none once it is gone."""
    with suppress(OSError):
        return [os.fsdecode(each) for each in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")]
    return []


@define(eq=False)
class ProgramRecords:
    """A file for each program that runs, in a directory of this daemon's own."""

    directory: Path
    _count: int = 0
    _boot: str = field(init=False, factory=lambda: f"{BOOT_ID.read_text().strip()} {os.readlink(PROCESSES)}")

    def begin(self, program: str) -> Path | None:
        """Write down that a program is about to be started. None if that cannot be: it is started all the same."""
        own = look(os.getpid())
        self._count += 1
        path = self.directory / f"{os.getpid()}-{self._count}"
        record = ProgramRecord(program, self._boot, own.started if own is not None else 0)
        try:
            self.directory.mkdir(DIRECTORY_MODE, parents=True, exist_ok=True)
            self._check_owner()
            _append(path, msgspec.json.encode(record), os.O_TRUNC)
        except OSError as error:
            log.warn("{program} would outlive this daemon: {fault}", program=program, fault=str(error))
            return None
        return path

    def _check_owner(self) -> None:
        """Others may write to what it is in, so they can put another one in its place. @raise OSError: it is not ours."""
        found = self.directory.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & OF_OTHERS:
            raise PermissionError(
                errno.EPERM, "not a directory that only this daemon may write to", str(self.directory)
            )

    def started(self, path: Path, pid: int) -> None:
        """Write down what it has become."""
        process = look(pid)
        if process is not None:
            with suppress(OSError):
                _append(path, msgspec.json.encode(Leader(pid, process.started)))

    def ended(self, path: Path) -> None:
        """Forget it. What cannot be removed names a session that is empty by then, or has another leader."""
        with suppress(OSError):
            path.unlink()

    async def end_all(self, sleep: Callable[[float], Awaitable[object]]) -> None:
        """End what earlier daemons have left, and wait until it has ended."""
        left = dict(self._left())
        waited = 0.0
        while left := {path: program for path, program in left.items() if self._is_left(path, program, waited)}:
            if waited > TERM_TIME + KILL_TIME:
                log.error("does not end, though killed: {programs}", programs=", ".join(sorted(left.values())))
                return
            await sleep(LOOK)
            waited += LOOK

    def _left(self) -> Iterator[tuple[Path, str]]:
        for path in self._paths():
            with suppress(OSError):
                record, leader = _read(path)
                if leader is None and record.boot == self._boot:
                    self._find_leader(path, record)
                log.warn("an earlier daemon has not seen the end of {program}", program=record.program)
                yield path, record.program

    def _paths(self) -> list[Path]:
        try:
            self._check_owner()
            return sorted(self.directory.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            log.error("what earlier daemons have left running is not known: {fault}", fault=str(error))
            return []

    def _is_left(self, path: Path, program: str, waited: float) -> bool:
        """Whether something of it runs; it is told to end. If nothing does, it is forgotten."""
        try:
            members = self._members(*_read(path))
        except OSError:  # somebody has taken it away
            return False
        for process in members:
            with suppress(ProcessLookupError):
                if waited == 0.0 or waited > TERM_TIME:
                    os.kill(process.pid, signal.SIGTERM if waited == 0.0 else signal.SIGKILL)
        if not members:
            self.ended(path)
        return bool(members)

    def _find_leader(self, path: Path, record: ProgramRecord) -> None:
        """Look for what a program has become whose start was cut off, and write it down."""
        for process in running().values():
            is_leader = process.pid == process.session and process.started >= record.since
            if is_leader and record.program in command_of(process.pid):
                self.started(path, process.pid)
                return

    def _members(self, record: ProgramRecord, leader: Leader | None) -> list[Running]:
        """The processes of its session. Those that have left it have done so to live on; ours and those we come from do."""
        processes = running()
        if leader is None or record.boot != self._boot:
            return []
        now = processes.get(leader.pid)
        if now is not None and now.started != leader.started:
            return []
        own = {each.session for each in _line(processes)}
        return [each for each in processes.values() if each.session == leader.pid and leader.pid not in own]


def _line(processes: Mapping[int, Running]) -> Iterator[Running]:
    """This process, and those that it comes from."""
    process = processes.get(os.getpid())
    while process is not None:
        yield process
        process = processes.get(process.parent)


#: Without waiting for a reader, should it be a pipe that others have put there.
OPENED = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def _append(path: Path, line: bytes, flags: int = 0) -> None:
    descriptor = os.open(path, OPENED | flags, FILE_MODE)
    try:
        os.write(descriptor, line + b"\n")
    finally:
        os.close(descriptor)


def _read(path: Path) -> tuple[ProgramRecord, Leader | None]:
    """@raise OSError: it is not there, or it is not ours, as others may write to what is above it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise PermissionError(f"{path} is not this daemon's")
        lines = os.read(descriptor, MAX_RECORD).split(b"\n")
    finally:
        os.close(descriptor)
    try:
        record = msgspec.json.decode(lines[0], type=ProgramRecord)
        return record, msgspec.json.decode(lines[1], type=Leader) if len(lines) > 2 else None
    except msgspec.DecodeError as error:
        raise OSError(f"{path}: {error}") from None
