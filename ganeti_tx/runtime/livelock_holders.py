"""Which processes hold the livelocks of a directory, and their end."""

import os
import re
import signal
from pathlib import Path

from ganeti_tx.runtime.livelock import ILiveness

#: PURPOSE_PID_TIME
NAME = re.compile(r"job_([0-9]+)_[0-9.]+")


def job_processes(directory: Path, liveness: ILiveness) -> list[int]:
    """The ids of the processes of jobs that live; a file whose lock is free names nobody, since ids are used again."""
    if not directory.is_dir():
        return []
    matches = [(path, NAME.fullmatch(path.name)) for path in sorted(directory.iterdir())]
    return [int(match[1]) for path, match in matches if match is not None and liveness.is_alive(path)]


def end_job_processes(directory: Path, liveness: ILiveness) -> list[int]:
    """Kill them, since what they work for has gone to another node; gives their ids."""
    found = job_processes(directory, liveness)
    for process in found:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return found
