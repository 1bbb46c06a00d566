"""QEMU processes that are not our children: they outlive the daemon that started them."""

import errno
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen
from twisted.internet.abstract import FileDescriptor
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorFDSet
from twisted.python.failure import Failure
from zope.interface import Interface, implementer

CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


class IQemuProcesses(Interface):
    """The processes of instances. One is known by its pid and by its pid file, which its command line names;
    so a pid that the kernel gave to somebody else meanwhile is never taken for an instance."""

    def is_alive(pid: int, pid_file: Path) -> bool:
        """Whether the instance's process is there."""

    def kill(pid: int, pid_file: Path) -> None:
        """End it at once; nothing happens when it is gone."""

    def when_ended(pid: int, pid_file: Path) -> Deferred[None]:
        """Fires once it is gone (at once if it is already); may be cancelled."""

    def cpu_seconds(pid: int) -> float:
        """The processor time it has used; 0 when it is gone."""

    def threads(pid: int) -> list[int]:
        """Those that it has now; none when it is gone."""

    def pin(thread_id: int, cpus: frozenset[int]) -> None:
        """Let a thread run on these processors only. @raise OSError: EINVAL, none of them is there."""


class _EndOfProcess(FileDescriptor):
    """Watches a pid descriptor, which becomes readable when its process has ended."""

    def __init__(self, reactor: IReactorFDSet, descriptor: int, ended: Callable[[], None]) -> None:
        super().__init__(reactor)
        self._descriptor = descriptor
        self._tell = ended
        self.connected = 1
        self.startReading()

    def fileno(self) -> int:
        """See `IFileDescriptor`."""
        return self._descriptor

    def doRead(self) -> None:
        """The process has ended."""
        self.close()
        self._tell()

    def connectionLost(self, reason: Failure) -> None:
        """The reactor gives up the descriptor: it stops."""
        self.close()

    def close(self) -> None:
        """Stop watching."""
        if self._descriptor >= 0:
            self.stopReading()
            os.close(self._descriptor)
            self._descriptor = -1


@implementer(IQemuProcesses)
@frozen
class LinuxQemuProcesses:
    """The kernel's own processes, by pid descriptors."""

    reactor: IReactorFDSet

    def is_alive(self, pid: int, pid_file: Path) -> bool:
        """See `IQemuProcesses`."""
        try:
            arguments = Path(f"/proc/{pid:d}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return os.fsencode(pid_file) in arguments

    def kill(self, pid: int, pid_file: Path) -> None:
        """See `IQemuProcesses`."""
        with self._opened(pid) as descriptor:
            if descriptor is not None and self.is_alive(pid, pid_file):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)

    def when_ended(self, pid: int, pid_file: Path) -> Deferred[None]:
        """See `IQemuProcesses`."""
        watch: _EndOfProcess | None = None
        ended: Deferred[None] = Deferred(lambda _: watch.close() if watch is not None else None)
        descriptor = _pid_descriptor(pid)
        if descriptor is None or not self.is_alive(pid, pid_file):
            if descriptor is not None:
                os.close(descriptor)
            ended.callback(None)
        else:
            watch = _EndOfProcess(self.reactor, descriptor, lambda: ended.callback(None))
        return ended

    def cpu_seconds(self, pid: int) -> float:
        """See `IQemuProcesses`."""
        try:
            fields = Path(f"/proc/{pid:d}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS  # utime and stime, proc(5)

    def threads(self, pid: int) -> list[int]:
        """See `IQemuProcesses`."""
        try:
            return [int(entry.name) for entry in Path(f"/proc/{pid:d}/task").iterdir()]
        except OSError:
            return []

    def pin(self, thread_id: int, cpus: frozenset[int]) -> None:
        """See `IQemuProcesses`."""
        os.sched_setaffinity(thread_id, cpus)

    @contextmanager
    def _opened(self, pid: int) -> Iterator[int | None]:
        descriptor = _pid_descriptor(pid)
        try:
            yield descriptor
        finally:
            if descriptor is not None:
                os.close(descriptor)


def _pid_descriptor(pid: int) -> int | None:
    """A descriptor of the process, or None when it is gone."""
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        if error.errno == errno.ESRCH:
            return None
        raise
