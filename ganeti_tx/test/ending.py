"""Has a child do a program's work, and ends all that this has started when the work is over, daemons included.

The kernel gives orphans to the nearest ancestor that asks for them: so none gets away, whatever its session and its environment.
"""

import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
#: What asks the work to come to its end; it may have been started so that it outlives its terminal.
HANGUP = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
ASKING = (signal.SIGINT, signal.SIGTERM, *HANGUP)
#: Seconds until what was killed must have ended, and between looks.
KILL_LIMIT, INTERVAL = 30.0, 0.05


def with_all_ended(work: Callable[[], int], spared: Callable[[int], bool]) -> int:
    """The exit status of the work, in the child that does it and here. Signals that ask for its end are passed on for it to heed.

    @param spared: which processes stay, with what they have started.
    """
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    if (child := os.fork()) == 0:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        return work()
    for number in ASKING:
        signal.signal(number, lambda number, _frame: tell(child, number))
    status = wait_for(child)
    end_all(spared)
    return status


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process. @raise OSError: the kernel refuses it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option} failed")


def tell(child: int, number: int) -> None:
    """Pass a signal on."""
    with suppress(ProcessLookupError):
        os.kill(child, number)


def wait_for(child: int) -> int:
    """Its exit status, as a shell tells it; orphans that end meanwhile are laid to rest."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def end_all(spared: Callable[[int], bool]) -> None:
    """Kill all descendants of this process but the spared ones and theirs; they have ended then, as far as they can be."""
    deadline = time.monotonic() + KILL_LIMIT
    while (found := list(descendants(os.getpid(), spared))) and time.monotonic() < deadline:
        for pid in found:
            tell(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(INTERVAL)


def descendants(top: int, spared: Callable[[int], bool]) -> Iterator[int]:
    """Those that a process has started, and those that these have; without the spared ones and theirs."""
    children: dict[int, list[int]] = {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with suppress(OSError):
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(pid)
    waiting = [top]
    while waiting:
        for pid in children.get(waiting.pop(), []):
            if not spared(pid):
                yield pid
                waiting.append(pid)
