"""Takes a lab down once nobody needs it: who had it brought up has ended, in whatever way, or the run of all tests has.

A process of its own, as who is killed can do nothing any more. It is told that its parent has ended by the end of its input.
"""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from shutil import rmtree

from attrs import frozen

from ganeti_tx.test.lab.kept import LabFailed
from ganeti_tx.test.lab.lab import Lab
from ganeti_tx.test.lab.processes import MARK, end_marked, started
from ganeti_tx.test.run_all import RUN_VARIABLE

#: Seconds between looks whether that run goes on.
INTERVAL = 1.0
#: Seconds that taking a lab down may take.
DOWN_LIMIT = 120.0


@frozen
class Guard:
    """Of the lab in a directory, which it removes with it."""

    _process: "subprocess.Popen[bytes]"

    @classmethod
    def over(cls, state: Path) -> "Guard":
        """Start it, before there is a lab."""
        command = [sys.executable, "-m", __name__, str(state)]
        settings = {**os.environ, MARK: str(state)}
        return cls(subprocess.Popen(command, env=settings, stdin=subprocess.PIPE, start_new_session=True))

    def end(self) -> None:
        """Have the lab taken down, and wait for that."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(DOWN_LIMIT)


def wait_for_end() -> None:
    """Until the parent, or the run of all tests, has ended."""
    run = int(os.environ.get(RUN_VARIABLE) or 0)
    since = started(run)
    while not select.select([sys.stdin], [], [], INTERVAL)[0]:
        if run and (since is None or started(run) != since):
            return


def main() -> None:
    """Guard the lab in the directory that was named."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    state = Path(sys.argv[1])
    wait_for_end()
    try:
        Lab(state).down()
    except LabFailed as error:
        print(f"lab: {error}", file=sys.stderr)
    end_marked(state)
    rmtree(state, ignore_errors=True)


if __name__ == "__main__":
    main()
