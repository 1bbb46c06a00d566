"""ganeti-cleaner: removes every night what nobody needs any more."""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from attrs import frozen
from cryptography.x509 import load_pem_x509_certificate

from ganeti_tx import __version__
from ganeti_tx.errors import ExitCode
from ganeti_tx.runtime.appended_file import AppendedFile
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.membership import not_in_cluster
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.tool_parser import ToolParser
from ganeti_tx.watcher.log import Log

PROGRAM = "ganeti-cleaner"
DESCRIPTION = """\
Remove what nobody needs any more. A timer starts it every night, as root for the node and as gnt-masterd for the master.

node: certificates below /var/run/ganeti/crypto that have expired, with their keys; what the watcher kept of node groups and has
not touched for 21 days; the key of a cluster-merge that was killed more than 4 days ago.
master: jobs that were archived more than 21 days ago.

It logs to /var/log/ganeti/cleaner and /var/log/ganeti/master-cleaner, a file for each day, and keeps the last 50.
"""
#: Seconds after which an archived job, and what the watcher has kept, is removed (Ganeti 3.0 watcher table).
AGE = 21 * 86400.0
#: Seconds after which no cluster-merge goes on, and no node lets in its key.
MERGE_AGE = 4 * 86400.0
LOGS_KEPT = 50
LOG_MODE = 0o600
CERTIFICATE = "cert"
MAX_CERTIFICATE = 1024 * 1024


@frozen
class Cleaning:
    """One run on this node."""

    paths: Paths
    log: Log
    now: float

    def clean_node(self) -> None:
        """See DESCRIPTION."""
        for directory in entries(self.paths.crypto_keys_dir):
            if self.has_expired(directory / CERTIFICATE):
                self.remove(directory, shutil.rmtree)
        for pattern in ("watcher.*.data", "watcher.*.instance-status"):
            for path in sorted(self.paths.data_dir.glob(pattern)):
                self.remove_old(path)
        self.clean_merge(self.paths.merge_dir)

    def clean_master(self) -> None:
        """See DESCRIPTION."""
        for directory in entries(self.paths.queue_archive_dir):
            for path in entries(directory):
                self.remove_old(path)

    def clean_merge(self, directory: Path) -> None:
        """Remove what a merge has left that was killed; not the directory, for this program must not write beside it."""
        left = list(entries(directory))
        if left and self.now - directory.lstat().st_mtime > MERGE_AGE:
            for path in left:
                self.remove(path, Path.unlink)

    def has_expired(self, certificate: Path) -> bool:
        """Whether it is one, and nobody may trust it any more; what cannot be read is left, and told."""
        try:
            with certificate.open("rb") as file:
                end = load_pem_x509_certificate(file.read(MAX_CERTIFICATE)).not_valid_after_utc
        except FileNotFoundError:
            return False
        except (OSError, ValueError) as error:
            self.log.warning(f"left {certificate}, which is no certificate that can be read: {error}")
            return False
        return end < datetime.fromtimestamp(self.now, UTC)

    def remove_old(self, path: Path) -> None:
        """Remove a file that nobody has changed for AGE."""
        try:
            if path.is_file() and self.now - path.lstat().st_mtime > AGE:
                self.remove(path, Path.unlink)
        except FileNotFoundError:
            return

    def remove(self, path: Path, how: Callable[[Path], object]) -> None:
        """One that cannot be removed is told, and the others are all the same."""
        try:
            how(path)
        except OSError as error:
            self.log.error(f"cannot remove {path}: {reason(error)}")
        else:
            self.log.info(f"removed {path}")


#: What can be asked for: what is done, and where its logs lie.
WORDS: Mapping[str, tuple[Callable[[Cleaning], None], str]] = {
    "node": (Cleaning.clean_node, "cleaner"),
    "master": (Cleaning.clean_master, "master-cleaner"),
}


def entries(directory: Path) -> Iterator[Path]:
    """What is in a directory; nothing when it is none."""
    if directory.is_dir() and not directory.is_symlink():
        yield from sorted(directory.iterdir())


def forget_logs(directory: Path) -> None:
    """Keep the newest."""
    for path in sorted(directory.glob(f"{PROGRAM}-*.log"))[:-LOGS_KEPT]:
        path.unlink(missing_ok=True)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser(PROGRAM, description=DESCRIPTION)
    made.wrong_status = ExitCode.FAILURE
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    made.add_argument("what", choices=tuple(WORDS), help="what to clean up")
    return made


def main() -> int:
    """The program; its exit status."""
    what = parser().parse_args().what
    clean, logs = WORDS[what]
    os.umask(0o077)
    try:
        paths = Paths.from_environment(os.environ)
        os.chdir(paths.root)
        if not paths.server_pem.exists():
            print(f"{PROGRAM}: {not_in_cluster(paths.server_pem)}", file=sys.stderr)
            return ExitCode.NODESETUP_ERROR
        directory = paths.log_dir / logs
        directory.mkdir(parents=True, exist_ok=True, mode=0o750)
        file = AppendedFile(directory / f"{PROGRAM}-{time.strftime('%Y-%m-%d')}.log", LOG_MODE)
        log = Log(PROGRAM, file.write, time.time)
        clean(Cleaning(paths, log, time.time()))
        log.info(f"{PROGRAM} {what}: nothing else is to be removed")
        forget_logs(directory)
    except (OSError, ValueError) as error:
        print(f"{PROGRAM}: {reason(error) if isinstance(error, OSError) else error}", file=sys.stderr)
        return ExitCode.FAILURE
    return ExitCode.FAILURE if log.failures else ExitCode.SUCCESS


if __name__ == "__main__":
    sys.exit(main())
