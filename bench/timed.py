"""Whole processes timed from outside: `timed.py` reads commands and a number of runs from standard input, and writes the runs."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence

import msgspec

#: Seconds after which a command counts as slow, and how many runs of it are enough.
SLOW, FEW = 3.0, 3


class Taken(msgspec.Struct, frozen=True):
    """What one run took, in milliseconds: from its start to its end, and of processors."""

    wall: float
    computing: float


class Command(msgspec.Struct, frozen=True):
    """What is run, and with which environment."""

    argv: list[str]
    environment: dict[str, str]

    def run(self) -> Taken:
        """Run it to its end. @raise SystemExit: it failed."""
        start = time.perf_counter()
        process = subprocess.Popen(self.argv, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        taken = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(self.argv)} ended with status {process.returncode}")
        return Taken(taken * 1000, (used.ru_utime + used.ru_stime) * 1000)


def in_turn(commands: Sequence[Command], runs: int) -> list[list[Taken]]:
    """The runs of each, one after the other and again; once before that, which does not count."""
    longest = max(command.run().wall for command in commands)
    rounds = range(min(runs, FEW) if longest > SLOW * 1000 else runs)
    return [list(taken) for taken in zip(*([command.run() for command in commands] for _ in rounds), strict=True)]


if __name__ == "__main__":
    given = msgspec.json.decode(sys.stdin.buffer.read(), type=tuple[list[Command], int])
    sys.stdout.buffer.write(msgspec.json.encode(in_turn(*given)))
