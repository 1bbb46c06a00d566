"""The daemons of a node of the other cluster: stopped, with all that is needed to have them back as they were."""

import tarfile
from functools import partial
from pathlib import Path

import msgspec

from ganeti_tx import __version__
from ganeti_tx.bootstrap.init import forget
from ganeti_tx.bootstrap.problems import BootstrapError, Problems
from ganeti_tx.bootstrap.start import start, stop_all
from ganeti_tx.errors import GanetiError
from ganeti_tx.merge.documents import Halting
from ganeti_tx.merge.letting_in import read_authorized
from ganeti_tx.model.base import Wire
from ganeti_tx.runtime.authorized_keys import MARK, MODE
from ganeti_tx.runtime.daemon_names import ALL
from ganeti_tx.runtime.files_replace import replace_file
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.upgrade.backup import back_up
from ganeti_tx.upgrade.on_node import look

NAME = "ganeti-merge.json"
RECORD_MODE = 0o600
DIRECTORY_MODE = 0o755
MAX_RECORD = 8 * 1024 * 1024


class Halted(Wire, frozen=True, kw_only=True):
    """What a node was. `daemons`: those that ran. `archive`: its data directory. `authorized`: whom its cluster let in.

    `member`: its certificate then, which tells whether it is still that cluster's. `before`: the cluster.
    """

    daemons: tuple[str, ...]
    archive: str
    authorized: bytes
    member: bytes
    before: Halting

    def __repr__(self) -> str:
        return f"<Halted {' '.join(self.daemons)}>"


def record_file(paths: Paths) -> Path:
    """Where it stands: beside the archive, since what joins another cluster loses its data directory."""
    return paths.backup_dir / NAME


def read_record(paths: Paths) -> Halted | None:
    """None when the daemons were not stopped. @raise GanetiError: it cannot be read."""
    path = record_file(paths)
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(MAX_RECORD), type=Halted)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise GanetiError(f"cannot read {path}: {error}") from None


def write_record(paths: Paths, record: Halted) -> None:
    """@raise OSError"""
    paths.backup_dir.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    replace_file(record_file(paths), msgspec.json.encode(record), RECORD_MODE)


def halt(paths: Paths, before: Halting) -> None:
    """Stop all daemons and keep a copy of the data directory; said twice it goes on. @raise GanetiError: one does not end."""
    record = read_record(paths)
    if record is None:
        present = read_authorized(paths).splitlines(keepends=True)
        record = Halted(
            daemons=look(paths).daemons,
            archive="",
            authorized=b"".join(line for line in present if line.rstrip().endswith(MARK)),
            member=paths.server_pem.read_bytes(),
            before=before,
        )
        write_record(paths, record)
    left = stop_all(paths)
    if left:
        raise BootstrapError(*left)
    if not record.archive:
        archive = back_up(paths, __version__)
        write_record(paths, msgspec.structs.replace(record, archive=str(archive)))


def restore(paths: Paths) -> None:
    """Have it be as it was; nothing to do where it was not stopped. @raise GanetiError: not all is as it was."""
    record = come_back(paths)
    if record is None:
        return
    problems = Problems()
    for daemon in [each for each in ALL if each in record.daemons]:
        problems.attempt(partial(start, paths, daemon))
    problems.stop_if_any()
    drop_record(paths)


def come_back(paths: Paths) -> Halted | None:
    """Be a member of the former cluster if it is none any more. What it was; None where it was not stopped."""
    record = read_record(paths)
    if record is not None and not is_member(paths, record):
        left = stop_all(paths)
        if left:
            raise BootstrapError(*left)
        put_back(paths, record)
    return record


def is_member(paths: Paths, record: Halted) -> bool:
    """Whether it is still of its former cluster."""
    return paths.server_pem.exists() and paths.server_pem.read_bytes() == record.member


def put_back(paths: Paths, record: Halted) -> None:
    """Its data directory as it was. @raise GanetiError: the copy cannot be read."""
    forget(paths)
    try:
        with tarfile.open(record.archive) as archive:
            archive.extraction_filter = as_it_was  # older Pythons have no filters, and do the same
            archive.extractall(paths.data_dir)
    except (OSError, tarfile.TarError) as error:
        raise GanetiError(f"cannot put back {record.archive}: {error}") from None
    others = [line for line in read_authorized(paths).splitlines(keepends=True) if not line.rstrip().endswith(MARK)]
    replace_file(paths.root_authorized_keys, b"".join((*others, record.authorized)), MODE)


def as_it_was(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo:
    """Owners and modes, too: root made the archive, and nobody else could change it."""
    return member


def drop_record(paths: Paths) -> None:
    """It is of no use any more; the archive stays."""
    record_file(paths).unlink(missing_ok=True)
