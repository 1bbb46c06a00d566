"""ganeti-watcher, which a timer starts every few minutes on every node."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ganeti_tx import __version__
from ganeti_tx.errors import ExitCode, GanetiError, LockError
from ganeti_tx.luxi.client import Client
from ganeti_tx.luxi.transport_errors import NoMasterError
from ganeti_tx.model.durations import WANTED, parse_duration
from ganeti_tx.model.ip_family import family_of_ssconf, loopback
from ganeti_tx.runtime.daemon_options import address
from ganeti_tx.runtime.directories import ensure_lock_directory
from ganeti_tx.runtime.file_lock import hold
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.membership import not_in_cluster
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.path_modes import FILE_MODES
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.runtime.tool_parser import ToolParser
from ganeti_tx.runtime.watcher_pause import pause_end
from ganeti_tx.watcher import daemons, master
from ganeti_tx.watcher.group import GroupRun
from ganeti_tx.watcher.health import clear_leftovers, maintain_health, own_role
from ganeti_tx.watcher.hooks import run_hooks
from ganeti_tx.watcher.log import log_of
from ganeti_tx.watcher.node import WatchedNode, read_text, run_program

PROGRAM = "ganeti-watcher"
DESCRIPTION = """\
Look after this node, and on the master after the cluster. Starts daemons that should run and do not, and runs the scripts in
/etc/ganeti/hooks/watcher. On the master it also archives old jobs, starts instances again that should run and do not, and brings
their disks in order. A timer starts it every five minutes; 'gnt-cluster watcher pause' has it do nothing for a while.

What it did is in watcher.log. An instance is started at most 5 times; 8 hours after the last try, or as soon as it was seen
running, the count begins anew, as it does when /var/lib/ganeti/watcher.GROUP-UUID.data is removed.
"""
#: Seconds after its end for which a job stays in the queue, and what stands for none.
JOB_AGE, ALL = 6 * 3600, "all"
LOCK_MODE = 0o600


def job_age(text: str) -> int:
    """Seconds; -1 for all. @raise ArgumentTypeError: neither."""
    age = -1 if text in (ALL, "-1") else parse_duration(text)
    if age is None:
        raise argparse.ArgumentTypeError(f"invalid age {text!r}: give {WANTED}, or the word {ALL}")
    return age


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser(PROGRAM, description=DESCRIPTION)
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    made.add_argument("-d", "--debug", action="store_true", help="log more, and to standard error, too")
    made.add_argument("-g", dest="group", metavar="UUID", help="do nothing but what is done for this node group")
    made.add_argument(
        "-A",
        "--job-age",
        type=job_age,
        default=JOB_AGE,
        help="archive jobs that ended so long ago, such as 90, 30m, 12h or 2d; all for every one that has ended (default: 6h)",
    )
    made.add_argument("--ignore-pause", action="store_true", help="run although the watcher is paused")
    made.add_argument(
        "--wait-children",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="end when the processes of all node groups have ended",
    )
    made.add_argument("--no-verify-disks", action="store_true", help="do not look for disks that are not in order")
    made.add_argument(
        "--rapi-ip",
        type=address,
        metavar="ADDRESS",
        help="where the Remote API listens, if it was told by its option -b",
    )
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """The program; its exit status."""
    options = parser().parse_args(arguments)
    os.umask(0o077)
    try:
        paths = Paths.from_environment(os.environ)
        if not paths.server_pem.exists():
            raise not_in_cluster(paths.server_pem)
        log = log_of(PROGRAM, paths, FILE_MODES["/var/log/ganeti/watcher.log"].mode, debug=options.debug)
        node = WatchedNode(
            own_name(), paths, os.environ, log, time.time, lambda: Client(str(paths.query_socket)), run_program
        )
    except GanetiError as error:
        return failed(str(error), error.exit_code)
    except (OSError, ValueError) as error:
        return failed(reason(error) if isinstance(error, OSError) else str(error), ExitCode.FAILURE)
    return told(node, lambda: run_group(node, options) if options.group else run_node(node, options))


def failed(text: str, status: int) -> int:
    """Say why nothing was begun."""
    print(f"{PROGRAM}: {text}", file=sys.stderr)
    return status


def told(node: WatchedNode, work: Callable[[], int]) -> int:
    """Do it; the exit status. What stops it is logged."""
    try:
        return work() or (ExitCode.FAILURE if node.log.failures else ExitCode.SUCCESS)
    except NoMasterError as error:  # where systemd rules, another node may lead that has not told this one yet
        node.log.error(str(error))
        return ExitCode.NOTMASTER
    except GanetiError as error:
        node.log.error(str(error))
    except OSError as error:
        node.log.error(reason(error))
    return ExitCode.FAILURE


def run_node(node: WatchedNode, options: argparse.Namespace) -> int:
    """Everything; one run at a time."""
    end = pause_end(read_text(node.paths.watcher_pause_file), node.now())
    if end is not None and not options.ignore_pause:
        node.log.debug(f"paused until {time.ctime(end)}")
        return ExitCode.SUCCESS
    ensure_lock_directory(node.paths, RealFiles(InlineThreads()))
    try:
        lock = hold(node.paths.watcher_lock_file, LOCK_MODE)
    except LockError:
        node.log.info("an earlier run is not over yet")
        return ExitCode.SUCCESS
    try:
        daemons.start_missing(node)
        run_hooks(node)
        maintain_health(node, own_role)
        clear_leftovers(node)
        groups, children = begin_groups(node, options) if node.is_master else ([], [])
    finally:
        lock.release()
    if options.wait_children and children:
        master.wait_for(node, children)
        master.merge_status(node, groups)
    return ExitCode.SUCCESS


def begin_groups(node: WatchedNode, options: argparse.Namespace) -> tuple[list[master.Group], list[master.Child]]:
    """What is done for the whole cluster, and the start of the processes of its groups."""
    daemons.restart_silent(node, daemons.rapi_answers(options.rapi_ip or rapi_address(node)))
    with node.connect() as client:
        master.archive(node, client, options.job_age)
        present = master.groups(client)
    master.remove_leftovers(node, present)
    passed_on = [
        name for name, given in (("-d", options.debug), ("--no-verify-disks", options.no_verify_disks)) if given
    ]
    start = master.starter(node, passed_on)
    return present, [(group, start(group)) for group in present]


def rapi_address(node: WatchedNode) -> str:
    """Where the Remote API listens unless it was told otherwise: everywhere, or at the node's own address where several
    nodes share a machine.
    """
    everywhere = loopback(family_of_ssconf(node.ssconf("primary_ip_family")))
    if node.paths.root == Path("/"):
        return everywhere
    addresses = dict(line.split() for line in node.ssconf("node_primary_ips").splitlines() if len(line.split()) == 2)
    return addresses.get(node.name, everywhere)


def run_group(node: WatchedNode, options: argparse.Namespace) -> int:
    """One group, unless another process is at work on it."""
    if not node.is_master:
        node.log.error(
            f"node groups are looked after by the master, {node.ssconf('master_node') or 'which is not known'}"
        )
        return ExitCode.NOTMASTER
    ensure_lock_directory(node.paths, RealFiles(InlineThreads()))
    try:
        lock = hold(node.paths.watcher_group_lock_file(options.group), LOCK_MODE)
    except LockError:
        return master.BUSY
    try:
        with node.connect() as client:
            GroupRun(node, client, options.group, not options.no_verify_disks).run()
    finally:
        lock.release()
    return ExitCode.SUCCESS


if __name__ == "__main__":
    sys.exit(main())
