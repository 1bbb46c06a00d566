"""cfgupgrade: brings a data directory to the present version, or one version back (reference: config-history.json)."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs
import msgspec

from ganeti_tx import __version__
from ganeti_tx.config.older.downgrade import OLDER_VERSION, dotted, downgraded, short
from ganeti_tx.config.upgrade import read_config
from ganeti_tx.config.verify import verify
from ganeti_tx.errors import ConfigVersionMismatch, ExitCode, GanetiError
from ganeti_tx.model.base import touched
from ganeti_tx.model.config_data import MAX_CONFIG_BYTES, encode
from ganeti_tx.model.node_files import CONFIG
from ganeti_tx.model.versions import RELEASE_VERSION
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.sockets import answers
from ganeti_tx.runtime.tool_parser import ToolParser
from ganeti_tx.upgrade.beside import make_missing_keys, move_rapi_users, write_storage_paths
from ganeti_tx.upgrade.data_directory import DataDirectory
from ganeti_tx.upgrade.own_keys import OwnKeys

PROGRAM = "cfgupgrade"
DESCRIPTION = f"""\
Bring the configuration of a cluster, and what lies beside it, from any version since 2.7 to {RELEASE_VERSION}; or one version
back, to {short(OLDER_VERSION)}. It is run on the master, while the daemons are stopped. What was there before is kept beside it.
Daemons that find an older configuration upgrade it by themselves; afterwards 'gnt-cluster redist-conf' brings it to all nodes.
"""
OTHER_PROGRAM = (
    "This was a cluster of Ganeti's: its master has an authority now, and keys that this has signed. Start the daemons here, "
    "'ganeti-master' with --no-voting --yes-do-it as no other node can vote yet; then 'gnt-node add --readd' sets up the "
    "others: {nodes}"
)
#: Of many alike.
TOLD = 20
QUESTION = {
    False: f"Continue with upgrading the configuration to version {RELEASE_VERSION}?",
    True: f"Continue with downgrading the configuration to version {short(OLDER_VERSION)}? What is newer gets lost.",
}


@attrs.frozen
class Run:
    """One run of the program. `warn` and `tell` show a line, the latter only when more is asked for."""

    place: DataDirectory
    verify: bool
    now: Callable[[], float]
    warn: Callable[[str], None]
    tell: Callable[[str], None]

    def upgrade(self) -> list[str]:
        """Gives what is to be said at the end. @raise GanetiError: nothing was changed but the users of the Remote API."""
        data = self._read()
        read = read_config(data)
        self.tell(f"Found configuration version {read.version} ({dotted(read.version)})")
        self._tell_dropped(read.dropped)
        move_rapi_users(self.place, self.tell)
        write_storage_paths(self.place, read.config.cluster, self.tell)
        own = OwnKeys.missing(self.place, read.config)
        same = own is None and encode(read.config) == data
        config = read.config if own is None else own.known(read.config)
        changed = config if same else touched(config, self.now())
        faults = verify(changed) if self.verify else []
        if not same:
            self._replace(encode(changed))
        if own is not None:
            own.write(self.place, changed)
            self.warn(OTHER_PROGRAM.format(nodes=", ".join(own.others) or "there are none"))
        make_missing_keys(self.place, changed.cluster, self.tell)
        if faults:
            self.warn("\n".join(["Errors after conversion:", *(f" - {fault}" for fault in faults)]))
            return [
                f"Configuration upgraded to version {RELEASE_VERSION}, but there are errors.",
                "Please review the file.",
            ]
        return [f"Configuration successfully upgraded to version {RELEASE_VERSION}."]

    def downgrade(self) -> list[str]:
        """As `upgrade`, one version back. @raise GanetiError: nothing was changed."""
        data = self._read()
        older = msgspec.json.encode(downgraded(data), order="deterministic")
        if older != data:
            self._replace(older)
        return [f"Configuration successfully downgraded to version {short(OLDER_VERSION)}."]

    def _tell_dropped(self, keys: Sequence[str]) -> None:
        if keys:
            more = f" and {len(keys) - TOLD} more" if len(keys) > TOLD else ""
            self.warn(f"Dropping keys that no version knows any more: {', '.join(keys[:TOLD])}{more}")

    def _read(self) -> bytes:
        path = self.place.at(CONFIG)
        with path.open("rb") as file:
            data = file.read(MAX_CONFIG_BYTES + 1)
        try:
            revision = read_config(data).version % 10000
        except ConfigVersionMismatch as error:
            raise GanetiError(f"Configuration version {dotted(error.args[1])} not supported by this tool") from None
        if revision:
            self.warn(f"Config revision is {revision}, not 0")
        return data

    def _replace(self, data: bytes) -> None:
        backup = self.place.replace_configuration(data)
        self.tell(f"Writing configuration file to {self.place.at(CONFIG)}; what was there is in {backup}")


def parser() -> argparse.ArgumentParser:
    """The command line (reference: cli.json, tools)."""
    made = ToolParser(PROGRAM, description=DESCRIPTION)
    made.add_argument("--dry-run", action="store_true", help="do everything except writing")
    made.add_argument("-f", "--force", action="store_true", help="do not ask")
    made.add_argument("-d", "--debug", action="store_true", help="say everything")
    made.add_argument("-v", "--verbose", action="store_true", help="say more")
    made.add_argument("--ignore-hostname", action="store_true", help="go on though this is not the master node")
    made.add_argument("--path", metavar="DATA_DIR", type=Path, help="the data directory, instead of the node's own")
    made.add_argument(
        "--confdir", metavar="CONF_DIR", type=Path, help="the directory of settings, instead of the node's own"
    )
    made.add_argument("--no-verify", action="store_true", help="do not look for faults in the result")
    made.add_argument("--downgrade", action="store_true", help=f"go back to version {short(OLDER_VERSION)}")
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    return made


def main() -> int:
    """The program; its exit status."""
    chosen = parser().parse_args()
    os.umask(0o077)
    try:
        for line in carried_out(chosen, Paths.from_environment(os.environ)):
            print(line)
    except (GanetiError, ValueError) as error:
        print("\n".join(f"{PROGRAM}: {line}" for line in str(error).splitlines()), file=sys.stderr)
        return ExitCode.FAILURE
    except OSError as error:
        print(f"{PROGRAM}: {reason(error)}", file=sys.stderr)
        return ExitCode.FAILURE
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return ExitCode.FAILURE
    return ExitCode.SUCCESS


def carried_out(chosen: argparse.Namespace, paths: Paths) -> list[str]:
    """What was asked for; gives what is to be said. @raise GanetiError: it was not, or the operator does not want it."""
    place = DataDirectory(chosen.path or paths.data_dir, chosen.confdir or paths.conf_dir, chosen.dry_run)
    check_host(place.master(), own_name(), ignored=chosen.ignore_hostname)
    if not chosen.force and not agreed(QUESTION[chosen.downgrade]):
        raise GanetiError("nothing was changed")
    place.check()
    if not chosen.dry_run and place.data == paths.data_dir and answers(paths.wconfd_socket):
        raise GanetiError("the configuration is in use: stop the cluster's daemons first")
    more = to_stderr if chosen.verbose or chosen.debug else silent
    run = Run(place, not chosen.no_verify, time.time, to_stderr, more)
    return run.downgrade() if chosen.downgrade else run.upgrade()


def check_host(master: str, here: str, *, ignored: bool) -> None:
    """@raise GanetiError: this is not the master node, and nobody said that it does not matter"""
    if master == here:
        return
    difference = f"ssconf says master node is '{master}', but this machine's name is '{here}'"
    if not ignored:
        raise GanetiError(f"{difference}; this tool must be run on the master node, or with --ignore-hostname")
    to_stderr(f"Warning: {difference}; this tool must be run on the master node")


def agreed(question: str) -> bool:
    """Whether somebody types a yes; without a terminal nobody can. @raise GanetiError: nobody can be asked."""
    if not sys.stdin.isatty():
        raise GanetiError(f"{question}\nNobody can be asked here; --force answers beforehand")
    print(f"{question}\ny/[n]: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def to_stderr(line: str) -> None:
    """A line for who reads along."""
    print(line, file=sys.stderr)


def silent(line: str) -> None:
    """What nobody asked for."""


if __name__ == "__main__":
    sys.exit(main())
