"""The zygote: a process with the code of jobs imported and no reactor, which forks a runner for each byte it reads.

Starting Python for each job would cost half a second; a fork costs milliseconds. The zygote ends when luxid does (its
standard input ends); its runners go on. For each child that ended it writes a line with its process id and status to
REPORTS, so that luxid need not wait for one that will never say hello.
"""

import os
import select
import signal
import sys
from collections.abc import Sequence

from ganeti_tx.errors import error_text
from ganeti_tx.jobs.runner import run_forever
from ganeti_tx.runtime.garbage import spare_what_is_here
from ganeti_tx.runtime.paths import Paths

FORK = b"f"
#: The descriptor on which luxid hears of children that ended.
REPORTS = 3


def main() -> int:
    """Fork until standard input ends."""
    ended, wake = os.pipe()
    for descriptor in (ended, wake):
        os.set_blocking(descriptor, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    paths = Paths.from_environment(os.environ)
    spare_what_is_here()  # in the children, too: who looks for garbage among what they share has it copied
    while True:
        ready, _, _ = select.select([sys.stdin.fileno(), ended], [], [])
        if ended in ready:
            os.read(ended, 4096)
            report_ended()
        if sys.stdin.fileno() in ready and not fork_what_is_wanted(paths, (ended, wake)):
            return 0


def fork_what_is_wanted(paths: Paths, own: Sequence[int]) -> bool:
    """Fork a runner for each byte; false when luxid is gone. @param own: descriptors that no child shall have."""
    wanted = os.read(sys.stdin.fileno(), 64)
    for byte in wanted:
        if bytes((byte,)) == FORK and os.fork() == 0:
            become_runner(paths, own)
    return bool(wanted)


def report_ended() -> None:
    """Collect the children that ended and tell luxid; without luxid we end ourselves soon."""
    while True:
        try:
            process_id, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if process_id == 0:
            return
        try:
            os.write(REPORTS, f"{process_id} {os.waitstatus_to_exitcode(status)}\n".encode())
        except BrokenPipeError:
            return


def become_runner(paths: Paths, own: Sequence[int]) -> None:
    """The child's life; it never returns to the zygote's loop."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        for descriptor in (*own, REPORTS):
            os.close(descriptor)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, sys.stdin.fileno())
        os.close(null)
        status = run_forever(paths)
    except Exception as error:
        print(f"a job process cannot start: {error_text(error)}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


if __name__ == "__main__":
    sys.exit(main())
