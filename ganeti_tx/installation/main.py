"""ganeti-setup: after `pip install`, puts on this machine what lies outside of Python; or takes it away again."""

import argparse
import os
import sys
import sysconfig
from importlib.metadata import EntryPoint, distribution
from pathlib import Path

from twisted.application.service import IServiceMaker
from twisted.plugin import getPlugins

from ganeti_tx import __version__
from ganeti_tx.errors import ExitCode, GanetiError
from ganeti_tx.installation.contents import contents
from ganeti_tx.installation.machine import Machine
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.tool_parser import ToolParser

DESCRIPTION = """\
Set this machine up for the installation that this program is part of. Puts in place systemd's units, the daemons' users and
groups, the directories, manual pages, completion for bash, zsh and fish, the rotation of logs, and links to the programs in
/usr/local/sbin. It may be run again at any time.
"""


def installed_programs() -> dict[str, EntryPoint]:
    """The programs of this installation, by name."""
    scripts = distribution("ganeti_tx").entry_points.select(group="console_scripts")
    return {script.name: script for script in sorted(scripts, key=lambda script: script.name)}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser("ganeti-setup", description=DESCRIPTION)
    made.add_argument(
        "--remove", action="store_true", help="take it away again and end the daemons; users, data and machines stay"
    )
    made.add_argument("-n", "--dry-run", action="store_true", help="say what would be done, and change nothing")
    made.add_argument("--root", type=Path, default=Path("/"), help="the machine's root directory, such as of an image")
    made.add_argument("--no-enable", action="store_true", help="do not have the daemons started at each boot")
    made.add_argument(
        "--iallocator-search-path",
        metavar="LIST",
        type=directories,
        help="directories in which instance allocators are looked for, separated by commas; stays until it is given again",
    )
    made.add_argument("--version", action="version", version=f"ganeti-setup (ganeti ganeti_tx) {__version__}")
    return made


def directories(text: str) -> list[str]:
    """A list of absolute paths. @raise argparse.ArgumentTypeError: one is none, or there is none."""
    found = [each.strip() for each in text.split(",") if each.strip()]
    if wrong := [each for each in found if not each.startswith("/")]:
        raise argparse.ArgumentTypeError(f"not an absolute path: {wrong[0]!r}")
    if not found:
        raise argparse.ArgumentTypeError("no directory is given")
    return found


def main() -> int:
    """The program; its exit status."""
    chosen = parser().parse_args()
    programs = Path(sysconfig.get_path("scripts"))
    try:
        if not chosen.root.is_absolute():
            raise GanetiError(f"--root must be an absolute path, not {str(chosen.root)!r}")
        if os.geteuid() != 0 and chosen.root == Path("/") and not chosen.dry_run:
            raise GanetiError("only root can set a machine up; see --dry-run and --root")
        machine = Machine(chosen.root, dry_run=chosen.dry_run)
        allocators = [] if chosen.remove else chosen.iallocator_search_path
        wanted = contents(programs, installed_programs(), allocators)
        if chosen.remove:
            machine.take_away(wanted)
        else:
            machine.set_up(wanted, enable=not chosen.no_enable)
            list(getPlugins(IServiceMaker))  # what Twisted keeps of this only root can write
    except GanetiError as error:
        print("\n".join(f"ganeti-setup: {line}" for line in error.args), file=sys.stderr)
        return ExitCode.FAILURE
    except OSError as error:
        print(f"ganeti-setup: {reason(error)}", file=sys.stderr)
        return ExitCode.FAILURE
    return ExitCode.SUCCESS


if __name__ == "__main__":
    sys.exit(main())
