"""cluster-merge: merges other clusters into the one whose master this node is (reference: cli.json, tools)."""

import argparse
import os
import signal
import sys
from types import FrameType

from ganeti_tx import __version__
from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.config.merging.choices import Conflict, SameGroup
from ganeti_tx.errors import ExitCode, GanetiError, LockError
from ganeti_tx.merge.access import made_access
from ganeti_tx.merge.cluster import ClusterMerge
from ganeti_tx.merge.options import PAUSE_PERIOD, MergeOptions, Restart
from ganeti_tx.merge.own import OwnCluster
from ganeti_tx.model.durations import WANTED, parse_duration
from ganeti_tx.runtime.file_lock import hold
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.tool_parser import ToolParser
from ganeti_tx.upgrade.jobs import Jobs

PROGRAM = "cluster-merge"
DESCRIPTION = """\
Merge other clusters into the one whose master node this is. Root's ssh must reach the master of each, by a key or by the password
for which ssh asks. Everything is checked first. The other clusters' instances are stopped and started again; until the first
of their nodes is added, a failure or an interrupt has all be as it was.
"""
LOCK_NAME = "merge.lock"
LOCK_MODE = 0o600


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser(PROGRAM, description=DESCRIPTION)
    made.add_argument("-d", "--debug", action="store_true", help="say everything")
    made.add_argument("-v", "--verbose", action="store_true", help="say more")
    made.add_argument(
        "-p",
        "--watcher-pause-period",
        metavar="PAUSE_PERIOD",
        type=duration,
        default=PAUSE_PERIOD,
        help=f"for how long the watchers of all clusters are paused: {WANTED}; 30 minutes if it is not given",
    )
    made.add_argument(
        "--groups",
        metavar="STRATEGY",
        type=SameGroup,
        choices=tuple(SameGroup),
        help="node groups of the same name become one (merge), or the other cluster's get another name (rename)",
    )
    made.add_argument(
        "--restart",
        metavar="STRATEGY",
        type=Restart,
        choices=tuple(Restart),
        default=Restart.UP,
        help="which instances of the other clusters are started in the end: none, those that were up (up), all",
    )
    made.add_argument(
        "--parameter-conflicts",
        metavar="STRATEGY",
        type=Conflict,
        choices=tuple(Conflict),
        default=Conflict.STRICT,
        help="parameters in which the clusters differ stand in the way (strict), or are told of only (warn)",
    )
    made.add_argument(
        "--skip-stop-instances",
        action="store_true",
        help="let the other clusters' instances run; what runs must have no port that this cluster uses",
    )
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    made.add_argument(
        "clusters",
        metavar="CLUSTER",
        nargs="+",
        help="a cluster's name, or its master node, which must be given after a merge that was killed",
    )
    return made


def duration(text: str) -> int:
    """Seconds. @raise ArgumentTypeError: it is no span of time"""
    seconds = parse_duration(text)
    if not seconds:
        raise argparse.ArgumentTypeError(f"must be {WANTED}, not {text!r}")
    return seconds


def main() -> int:
    """The program; its exit status."""
    chosen = parser().parse_args()
    os.umask(0o077)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    try:
        return ExitCode.SUCCESS if merged(chosen, Paths.from_environment(os.environ)) else ExitCode.FAILURE
    except GanetiError as error:
        print("\n".join(f"{PROGRAM}: {line}" for line in str(error).splitlines()), file=sys.stderr)
    except OSError as error:
        print(f"{PROGRAM}: {reason(error)}", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
    return ExitCode.FAILURE


def interrupted(number: int, frame: FrameType | None) -> None:
    """Other ends that are asked for are interrupts, too. @raise KeyboardInterrupt"""
    raise KeyboardInterrupt


def merged(chosen: argparse.Namespace, paths: Paths) -> bool:
    """Whether all went well. @raise GanetiError: nothing was done, or all was taken back."""
    if len(set(chosen.clusters)) != len(chosen.clusters):
        raise BootstrapError("a cluster is named twice")
    options = MergeOptions(
        pause_period=chosen.watcher_pause_period,
        groups=chosen.groups,
        restart=chosen.restart,
        conflicts=chosen.parameter_conflicts,
        skip_stop_instances=chosen.skip_stop_instances,
    )
    try:
        lock = hold(paths.run_dir / LOCK_NAME, LOCK_MODE)
    except LockError:
        raise BootstrapError(f"'{PROGRAM}' runs on this node already; wait for its end") from None
    try:
        with made_access(paths) as access:
            own = OwnCluster(paths, Jobs(paths, say))
            tell = say if chosen.verbose or chosen.debug else silent
            return ClusterMerge(own, access, options, say, tell).run(chosen.clusters)
    finally:
        lock.release()


def say(line: str) -> None:
    """To the operator, at once."""
    print(line, flush=True)


def silent(line: str) -> None:
    """What nobody asked for."""


if __name__ == "__main__":
    sys.exit(main())
