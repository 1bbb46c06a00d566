"""The daemons as commands: `ganeti-noded` starts `twistd ganeti-noded` in the background, or here with --foreground."""

import os
import sys
from collections.abc import Sequence

from twisted.scripts.twistd import run

from ganeti_tx.runtime.paths import Paths

#: Nobody else may read what a daemon creates without saying so.
UMASK = 0o077


def start(daemon: str, arguments: Sequence[str]) -> None:
    """Become twistd with the daemon's plugin. The daemon keeps its own pid file, which a crash cannot make stale."""
    paths = Paths.from_environment(os.environ)
    foreground = "--foreground" in arguments or "-f" in arguments
    rest = [argument for argument in arguments if argument not in ("--foreground", "-f")]
    log = paths.log_file(daemon)
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o750)
    behaviour = ["--nodaemon"] if foreground else ["--logfile", str(log)]
    always = ["--pidfile=", "--no_save", f"--umask={UMASK:o}", f"--rundir={paths.root}"]
    sys.argv = ["twistd", *always, *behaviour, daemon, *rest]
    run()


def master() -> None:
    """ganeti-master: luxid and wconfd in one process."""
    start("ganeti-master", sys.argv[1:])


def luxid() -> None:
    """ganeti-luxid alone."""
    start("ganeti-luxid", sys.argv[1:])


def wconfd() -> None:
    """ganeti-wconfd alone."""
    start("ganeti-wconfd", sys.argv[1:])


def noded() -> None:
    """ganeti-noded."""
    start("ganeti-noded", sys.argv[1:])
