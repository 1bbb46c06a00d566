"""What a process uses of the machine, read off the kernel's /proc."""

import os
import resource
from pathlib import Path

from ganeti_tx.metrics.process import Usage

OWN = Path("/proc/self")
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
#: Positions in /proc/PID/stat behind the name: user time, system time, start after boot (ticks), size (bytes), resident (pages).
UTIME, STIME, START, VSIZE, RSS = 11, 12, 19, 20, 21
#: The states of a process that is over (proc(5)); the position of its flags behind the state, and the flag of one that exits.
OVER = ("Z", "X", "x")
FLAGS = 5
EXITING = 0x4


def read_usage(process: Path = OWN, boot: float | None = None) -> Usage:
    """What a process uses now; empty for one that is gone.

    @param boot: when the machine was booted, in seconds since the epoch; asked of the kernel when it is not given.
    """
    try:
        fields = stat_fields((process / "stat").read_text())
        open_files = len(os.listdir(process / "fd"))
    except (OSError, ValueError):
        return Usage()
    booted = boot_time() if boot is None else boot
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return Usage(
        resident=fields[RSS] * PAGE_SIZE,
        virtual=fields[VSIZE],
        cpu=(fields[UTIME] + fields[STIME]) / TICKS_A_SECOND,
        open_files=open_files,
        most_files=most if process == OWN and most != resource.RLIM_INFINITY else None,
        started=None if booted is None else booted + fields[START] / TICKS_A_SECOND,
    )


def stat_fields(text: str) -> list[int]:
    """The numbers behind a process's name, which may hold anything, and its state (in whose place 0 stands).

    @raise ValueError: not such a line.
    """
    fields = text[text.rindex(")") + 1 :].split()
    if len(fields) <= RSS:
        raise ValueError(f"only {len(fields)} fields")
    return [0, *map(int, fields[1 : RSS + 1])]


def is_over(process_id: int) -> bool:
    """Whether a process runs no more code: it is gone, it is on its way out, or only its exit status waits to be collected.

    Its locks are free a moment before it is gone, and whoever got them may take that for its death.
    """
    try:
        os.kill(process_id, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        return False  # another user's, whose state may be hidden from us
    try:
        text = Path(f"/proc/{process_id:d}/stat").read_text("utf-8", "replace")
        state, *numbers = text[text.rindex(")") + 1 :].split()
        return state in OVER or bool(int(numbers[FLAGS]) & EXITING)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, IndexError):
        return False


def boot_time(stat: Path = Path("/proc/stat")) -> float | None:
    """When the machine was booted, in seconds since the epoch; None when the kernel does not tell."""
    try:
        lines = stat.read_text().splitlines()
    except OSError:
        return None
    return next((float(line.split()[1]) for line in lines if line.startswith("btime ")), None)
