"""Debian's ganeti-htools, as they are, on the master of a devcluster."""

import os
import re
import shutil
import subprocess

from attrs import frozen

from ganeti_tx.devcluster.layout import DevNode

PROGRAMS = ("hbal", "hcheck", "hinfo", "hroller", "hscan", "hspace", "harep")
LIMIT = 120.0
MOVE = re.compile(r"^ +\d+\. (\S+) +\S+ +=> (\S+) ", re.MULTILINE)


@frozen
class Ended:
    """What came of a program."""

    status: int
    out: str
    err: str


def why_not() -> str | None:
    """Why they cannot be run here."""
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    return f"needs {', '.join(missing)} of Debian's ganeti-htools" if missing else None


def run(node: DevNode, line: str) -> Ended:
    """One program, which finds the master daemon's socket below the node's root, as Ganeti's programs do."""
    done = subprocess.run(
        line.split(),
        env=node.environment(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def moves(said: str) -> dict[str, str]:
    """Where hbal says that instances are in the end; both without what the names have in common."""
    return dict(MOVE.findall(said))
