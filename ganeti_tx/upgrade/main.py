"""ganeti-upgrade: what `gnt-cluster upgrade` has done, on the master and, by the new version's own program, on each node."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping

import msgspec

from ganeti_tx import __version__
from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.config.ssconf_reader import SsconfReader
from ganeti_tx.errors import LockError
from ganeti_tx.model.base import Wire
from ganeti_tx.runtime.daemon_names import ALL
from ganeti_tx.runtime.file_lock import hold
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.program_problems import status_of
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.runtime.tool_parser import ToolParser
from ganeti_tx.upgrade.cluster import ClusterUpgrade
from ganeti_tx.upgrade.installations import PROGRAM
from ganeti_tx.upgrade.jobs import Jobs
from ganeti_tx.upgrade.on_node import encoded, look, take_over
from ganeti_tx.upgrade.remote import UpgradeNodes

DESCRIPTION = """\
Have the daemons of this node, or of all nodes, be those of another installation. 'gnt-cluster upgrade' calls it; nobody else
needs to.
"""
MAX_DOCUMENT = 64 * 1024
LOCK_NAME = "upgrade.lock"
LOCK_MODE = 0o600


class UpgradeRequest(Wire, frozen=True, kw_only=True):
    """What the command line says: the version; None to go on with what was begun."""

    to: str | None = None


def do_look(paths: Paths, chosen: argparse.Namespace) -> bool:
    """Tell the version, and which daemons run."""
    print(encoded(look(paths)))
    return True


def do_take_over(paths: Paths, chosen: argparse.Namespace) -> bool:
    """This node's daemons."""
    take_over(paths, chosen.daemon)
    return True


def do_cluster(paths: Paths, chosen: argparse.Namespace) -> bool:
    """All nodes, from the master."""
    try:
        request = msgspec.json.decode(sys.stdin.buffer.read(MAX_DOCUMENT), type=UpgradeRequest)
    except msgspec.DecodeError as error:
        raise BootstrapError(f"cannot read the request: {error}") from None
    try:
        lock = hold(paths.run_dir / LOCK_NAME, LOCK_MODE)
    except LockError:
        raise BootstrapError("'gnt-cluster upgrade' runs on this node already; wait for its end") from None
    try:
        run = ClusterUpgrade(
            paths,
            SsconfReader(RealFiles(InlineThreads()), paths),
            Jobs(paths, say),
            UpgradeNodes(paths, own_name()),
            say,
        )
        return run.resume() if request.to is None else run.to(request.to)
    finally:
        lock.release()


def say(line: str) -> None:
    """To the operator, at once."""
    print(line, flush=True)


STEPS: Mapping[str, Callable[[Paths, argparse.Namespace], bool]] = {
    "look": do_look,
    "take-over": do_take_over,
    "cluster": do_cluster,
}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser(PROGRAM, description=DESCRIPTION)
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    words = made.add_subparsers(dest="step", required=True, metavar="STEP")
    words.add_parser("look", help="tell, as JSON, this installation's version and which daemons run on this node")
    taking = words.add_parser("take-over", help="have daemons run that are of this installation, whichever run now")
    taking.add_argument("daemon", nargs="*", choices=ALL, help="which of them")
    words.add_parser("cluster", help="all nodes, from the master; a JSON document comes from standard input")
    return made


def main() -> int:
    """Run one step; the exit status. Every problem is a line on standard error."""
    chosen = parser().parse_args()
    os.umask(0o077)
    return status_of(lambda: STEPS[chosen.step](Paths.from_environment(os.environ), chosen))


if __name__ == "__main__":
    sys.exit(main())
