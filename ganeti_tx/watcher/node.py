"""The node that the watcher works on, and how it reaches what is outside of this process."""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import frozen

from ganeti_tx.luxi.client import Client
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.watcher.log import Log

MAX_FILE = 1024 * 1024


@frozen
class WatchedNode:
    """What each part of a run works with. Nothing here waits without a limit."""

    name: str
    paths: Paths
    environ: Mapping[str, str]
    log: Log
    #: Seconds since the epoch.
    now: Callable[[], float]
    #: A connection to the master daemon of this node.
    connect: Callable[[], Client]
    #: Runs a program with an environment for at most so many seconds; gives its exit status and what it said.
    run: Callable[[Sequence[str], Mapping[str, str], float], tuple[int, str]]

    def ssconf(self, key: str) -> str:
        """A value of simple configuration; empty when it is not known here."""
        return read_text(self.paths.ssconf_file(key)).strip()

    @property
    def is_master(self) -> bool:
        """As far as this node has heard."""
        return self.ssconf("master_node") == self.name


def read_text(path: Path) -> str:
    """What a small file holds; empty when there is none, or nobody can read it."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(MAX_FILE)
    except OSError:
        return ""


def run_program(argv: Sequence[str], environment: Mapping[str, str], limit: float) -> tuple[int, str]:
    """See `WatchedNode.run`; one that cannot be run, or does not end in time, has the status -1."""
    try:
        done = subprocess.run(
            argv,
            env=dict(environment),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return -1, f"did not end within {limit:.0f} s; {(error.stdout or b'').decode('utf-8', 'replace')}"
    except OSError as error:
        return -1, f"cannot be run: {error.strerror}"
    return done.returncode, done.stdout.decode("utf-8", "replace")
