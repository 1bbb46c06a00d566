"""The zygote: a process with the code of jobs imported and no reactor, which forks a runner for each byte it reads.

Starting Python for each job would cost half a second; a fork costs milliseconds. The zygote ends when luxid does (its
standard input ends); its runners go on.
"""

import gc
import os
import signal
import sys

from ganeti_tx.errors import error_text
from ganeti_tx.jobs.runner import run_forever
from ganeti_tx.runtime.paths import Paths

FORK = b"f"


def main() -> int:
    """Fork until standard input ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    paths = Paths.from_environment(os.environ)
    gc.collect()
    gc.freeze()
    while True:
        wanted = os.read(sys.stdin.fileno(), 64)
        if not wanted:
            return 0
        for byte in wanted:
            if bytes((byte,)) == FORK and os.fork() == 0:
                become_runner(paths)


def become_runner(paths: Paths) -> None:
    """The child's life; it never returns to the zygote's loop."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, sys.stdin.fileno())
        os.close(null)
        gc.unfreeze()
        status = run_forever(paths)
    except Exception as error:
        print(f"a job process cannot start: {error_text(error)}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
