"""No program fills a disk with what it says: the log that it writes is cut while it does.

It writes the file itself, so that nothing it leaves running waits for a reader, and what is too much is seen only afterwards.
"""

import fcntl
import os
import stat
from collections.abc import Iterable
from contextlib import suppress

from twisted.internet.interfaces import IDelayedCall, IReactorTime

#: Bytes of a log beyond which it is cut, and what is left then of its beginning and of its end, at most.
MOST = 64 << 20
BEGINNING = 32 << 20
END = 64 << 10
#: Seconds between two looks.
LOOK = 1.0


def is_log(descriptor: int) -> bool:
    """Whether it is a file that is only added to."""
    appends = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_APPEND
    return bool(appends) and stat.S_ISREG(os.fstat(descriptor).st_mode)


def cut(descriptor: int) -> bool:
    """Cut a log if it is too long; blocking. Whole lines are left: half a value would not be found by who hides it.

    @raise OSError: it cannot be read or written.
    """
    size = os.fstat(descriptor).st_size
    if size <= MOST:
        return False
    begins = BEGINNING - END
    kept = begins + os.pread(descriptor, END, begins).rfind(b"\n") + 1
    end = os.pread(descriptor, END, size - END).partition(b"\n")[2]
    os.ftruncate(descriptor, kept)
    os.write(descriptor, f"(cut here, as this log had more than {MOST >> 20} MiB; its end follows)\n".encode() + end)
    return True


class LogLimit:
    """Looks after the logs among the descriptors that a program is handed, until it has ended."""

    def __init__(self, clock: IReactorTime, descriptors: Iterable[int]) -> None:
        """@raise OSError: too many files are open."""
        self._clock = clock
        #: Our own, as the others may be closed before the program has ended.
        self._logs = [os.dup(each) for each in sorted(set(descriptors)) if is_log(each)]
        self._timer: IDelayedCall | None = None
        if self._logs:
            self._timer = clock.callLater(LOOK, self._look)

    def _look(self) -> None:
        self._cut()
        self._timer = self._clock.callLater(LOOK, self._look)

    def _cut(self) -> None:
        for log in self._logs:
            with suppress(OSError):  # it is looked at again; and no program fails by what it says
                cut(log)

    def end(self) -> None:
        """The program has ended, or was not started."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._cut()
        while self._logs:
            os.close(self._logs.pop())
