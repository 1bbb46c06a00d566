"""ganeti-ensure-dirs: makes a node's directories and mends the owners of its files; units run it before the daemon."""

import argparse
import os
import sys

from ganeti_tx import __version__
from ganeti_tx.errors import ExitCode
from ganeti_tx.runtime.daemon_user import may_repair, prepare
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.owner_repair import repair_owners
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.tool_parser import ToolParser


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser(
        "ganeti-ensure-dirs", description="Make this node's directories and mend the owners and modes of its files."
    )
    made.add_argument("-f", "--full-run", action="store_true", help="archived jobs, too")
    made.add_argument("-d", "--debug", action="store_true", help="as --verbose")
    made.add_argument("-v", "--verbose", action="store_true", help="tell the directory of the node, too")
    made.add_argument("--version", action="version", version=f"ganeti-ensure-dirs (ganeti ganeti_tx) {__version__}")
    return made


def main() -> int:
    """The program; its exit status."""
    options = parser().parse_args()
    try:
        paths = Paths.from_environment(os.environ)
        if options.verbose or options.debug:
            print(f"directories below {paths.root}, {'all files' if options.full_run else 'no archived jobs'}")
        prepare(paths)
        mended = repair_owners(paths, archive=True) if options.full_run and may_repair(paths) else []
    except ValueError as error:
        print(f"ganeti-ensure-dirs: {error}", file=sys.stderr)
        return ExitCode.FAILURE
    except OSError as error:
        print(f"ganeti-ensure-dirs: {reason(error)}", file=sys.stderr)
        return ExitCode.FAILURE
    for path in mended:
        print(f"mended {path}")
    return ExitCode.SUCCESS
