"""post-upgrade: what is left to be done on the master when another version has taken over."""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ganeti_tx import __version__
from ganeti_tx.errors import ExitCode, GanetiError
from ganeti_tx.runtime.daemon_user import may_repair, prepare
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.owner_repair import repair_owners
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.tool_parser import ToolParser

PROGRAM = "post-upgrade"
DESCRIPTION = """\
Give the files of this node their owners and modes, and the configuration and the keys to all nodes once more, by 'gnt-cluster
redist-conf'. 'gnt-cluster upgrade' does that; this is for upgrades by other means. It may be run again.
"""
VERSION = re.compile(r"\d{1,4}(\.\d{1,4}){1,3}[~+.A-Za-z0-9]{0,20}")
#: Seconds for the job that reaches all nodes.
LIMIT = 3600.0


def version(text: str) -> str:
    """@raise ArgumentTypeError: none."""
    if not VERSION.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a version, such as 2.16.2")
    return text


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser(PROGRAM, description=DESCRIPTION)
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    made.add_argument("former", metavar="VERSION", nargs="?", type=version, help="the version that was there before")
    return made


def redistribute(beside: Path) -> Sequence[str]:
    """The command, of the same installation."""
    return [str(beside / "gnt-cluster"), "redist-conf"]


def work(paths: Paths, argv: Sequence[str]) -> int:
    """Do it; the exit status of the command. @raise OSError"""
    prepare(paths)
    for path in repair_owners(paths, archive=True) if may_repair(paths) else []:
        print(f"mended {path}", flush=True)
    return subprocess.run(argv, stdin=subprocess.DEVNULL, timeout=LIMIT, check=False).returncode


def main() -> int:
    """The program; its exit status."""
    parser().parse_args()
    try:
        return work(Paths.from_environment(os.environ), redistribute(Path(sys.argv[0]).resolve().parent))
    except (GanetiError, ValueError) as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
    except OSError as error:
        print(f"{PROGRAM}: {reason(error)}", file=sys.stderr)
    except subprocess.TimeoutExpired:
        print(f"{PROGRAM}: 'gnt-cluster redist-conf' did not end within {LIMIT:.0f} seconds", file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    return ExitCode.FAILURE
