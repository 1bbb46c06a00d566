"""The files of rapi/: who may use the Remote API. They are one whole, which the master brings to the other nodes."""

from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from ganeti_tx.model.group_scopes import GroupScopes, group_scopes
from ganeti_tx.model.node_files import DATA, FILES, RAPI_RECORD
from ganeti_tx.runtime.files import FileStat, IFiles
from ganeti_tx.runtime.paths import Paths

#: By their names.
RAPI_FILES = {file.pattern: file for file in FILES if file.path.startswith(f"{DATA}/rapi/")}
#: Of one file, in bytes; some ten thousand users.
MAX_RAPI_FILE = 1024 * 1024
MAX_RECORD = 4096

#: What each file holds, by its name; those that are not there are left out.
RapiFiles = Mapping[str, bytes]


def rapi_paths(paths: Paths) -> dict[str, Path]:
    """Where each of them is."""
    return {name: paths.of(file) for name, file in RAPI_FILES.items()}


def read_rapi_files(files: IFiles, paths: Paths) -> RapiFiles:
    """All that are there. @raise OSError: one cannot be read, or is too large, or is a link.

    Their directory belongs to the Remote API's user. Who has taken it over could link to the cluster's keys, which are not
    its own to read, and would find them sent to the other nodes as its own.
    """
    found = {}
    for name, path in rapi_paths(paths).items():
        with suppress(FileNotFoundError):
            found[name] = files.read(path, MAX_RAPI_FILE, links=False)
    return found


def read_group_scopes(files: IFiles, paths: Paths, now: float) -> GroupScopes:
    """Who is kept to node groups by them now; nobody where they cannot be read, which whoever sends them to other nodes tells."""
    try:
        return group_scopes(read_rapi_files(files, paths), now)
    except OSError:
        return {}


def stat_rapi_files(files: IFiles, paths: Paths) -> dict[str, FileStat]:
    """What tells without reading them whether they changed. @raise OSError: one cannot be looked at."""
    found = {}
    for name, path in rapi_paths(paths).items():
        with suppress(FileNotFoundError, NotADirectoryError):
            found[name] = files.stat(path)
    return found


def digest_of(content: RapiFiles) -> str:
    """Two wholes with the same digest are equal."""
    every = sha256()
    for name, data in sorted(content.items()):
        every.update(f"{name} {len(data)}\n".encode() + data)
    return every.hexdigest()


class Record(msgspec.Struct, frozen=True):
    """Which whole a node has from its master, or the master has counted; by it an empty one differs from none."""

    digest: str


def read_record(files: IFiles, paths: Paths) -> Record | None:
    """None without one that can be read."""
    try:
        return msgspec.json.decode(files.read(paths.rapi_record_file, MAX_RECORD), type=Record)
    except (OSError, msgspec.DecodeError):
        return None


async def write_record(files: IFiles, paths: Paths, content: RapiFiles) -> None:
    """@raise OSError: it cannot be written."""
    await files.write_atomic(paths.rapi_record_file, msgspec.json.encode(Record(digest_of(content))), RAPI_RECORD.mode)
