"""users-setup: makes the users and groups of the daemons, and nothing else of what ganeti-setup does."""

import argparse
import subprocess
import sys
from collections.abc import Iterable, Sequence

from ganeti_tx import __version__
from ganeti_tx.errors import ExitCode
from ganeti_tx.installation.accounts import commands
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.shipped import shipped
from ganeti_tx.runtime.tool_parser import ToolParser

PROGRAM = "users-setup"
LIMIT = 120.0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser(
        PROGRAM,
        description="Make the users and groups of the daemons that this machine lacks; ganeti-setup does it, too.",
    )
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    made.add_argument("--dry-run", action="store_true", help="only say what would be run")
    return made


def make(wanted: Iterable[Sequence[str]], *, dry_run: bool) -> bool:
    """Run each command and tell it; whether all went well, which ends with the first that fails."""
    for argv in wanted:
        print(" ".join(argv), flush=True)
        if dry_run:
            continue
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, timeout=LIMIT, check=False)
        if done.returncode != 0:
            print(f"{PROGRAM}: {argv[0]} ended with status {done.returncode}", file=sys.stderr)
            return False
    return True


def main() -> int:
    """The program; its exit status."""
    options = parser().parse_args()
    try:
        done = make(commands(shipped("sysusers.d/ganeti.conf").read_text()), dry_run=options.dry_run)
    except OSError as error:
        print(f"{PROGRAM}: {reason(error)}", file=sys.stderr)
        return ExitCode.FAILURE
    except subprocess.TimeoutExpired as error:
        print(f"{PROGRAM}: {error.cmd[0]} did not end within {LIMIT:.0f} seconds", file=sys.stderr)
        return ExitCode.FAILURE
    return ExitCode.SUCCESS if done else ExitCode.FAILURE
