"""node-cleanup: takes the cluster off a node that its master cannot reach any more (reference: cli.json, tools)."""

import argparse
import os
import sys
import time
from pathlib import Path
from secrets import token_hex

from ganeti_tx import __version__
from ganeti_tx.bootstrap.init import forget
from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.bootstrap.start import stop_all
from ganeti_tx.errors import ExitCode
from ganeti_tx.model.node_files import FILES, FORMER
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.tool_parser import ToolParser

PROGRAM = "node-cleanup"
DESCRIPTION = """\
Stop the daemons of this node and remove what it has of its cluster: configuration, keys, copies of jobs, and the cluster's lines
among root's authorized keys. A node that its master can reach is told to by 'gnt-node remove'; this is for one whose cluster is
gone. Disks of instances, instances that run, and logs stay. Single files leave copies beside them, which go when the node joins a
cluster again.
"""
IRREVERSIBLE = "Cleaning a node is irreversible. If you really want to clean this node, supply the --yes-do-it option."


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser(PROGRAM, description=DESCRIPTION)
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    made.add_argument(
        "--yes-do-it", "--ya-rly", dest="sure", action="store_true", help="do it: it cannot be taken back"
    )
    made.add_argument("--no-backup", dest="backup", action="store_false", help="leave no copies of what is removed")
    made.add_argument("-v", "--verbose", action="count", default=0, help="tell each file")
    made.add_argument("-d", "--debug", action="count", default=0, help="the same")
    return made


def clean(paths: Paths, *, backup: bool) -> list[str]:
    """Stop the daemons and forget the cluster; what was removed. @raise BootstrapError: a daemon does not end."""
    if left := stop_all(paths):
        raise BootstrapError(*left)
    there = [(file, path) for file in FILES if file.of_cluster and file is not FORMER for path in paths.present(file)]
    for file, path in there:
        if backup and not file.is_family and path.is_relative_to(paths.data_dir):
            put_aside(path, paths.data_dir, time.time())
    forget(paths, but=(FORMER,) if backup else ())
    return [str(path) for _file, path in there]


def put_aside(path: Path, directory: Path, now: float) -> None:
    """Keep a file in a directory under another name, which nobody reads but root."""
    stamp = time.strftime("%Y-%m-%d_%H_%M_%S", time.localtime(now))
    kept = path.rename(directory / f"{path.name}.backup-{stamp}.{token_hex(4)}")
    kept.chmod(FORMER.mode)
    if os.geteuid() == 0:
        os.chown(kept, 0, 0)


def main() -> int:
    """The program; its exit status."""
    options = parser().parse_args()
    if not options.sure:
        print(IRREVERSIBLE, file=sys.stderr)
        return ExitCode.FAILURE
    try:
        removed = clean(Paths.from_environment(os.environ), backup=options.backup)
    except (BootstrapError, ValueError) as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return ExitCode.FAILURE
    except OSError as error:
        print(f"{PROGRAM}: {reason(error)}", file=sys.stderr)
        return ExitCode.FAILURE
    if options.verbose or options.debug:
        print(*(f"Removed {path}" for path in removed), "Node successfully cleaned", sep="\n", file=sys.stderr)
    return ExitCode.SUCCESS
