"""What a node remembers of an instance that no other program remembers, in files of a directory that is root's own."""

from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from ganeti_tx.errors import HypervisorError
from ganeti_tx.runtime.files import IFiles

LIMIT = 1 << 18
MODE = 0o600
Record = TypeVar("Record", bound=msgspec.Struct)


class Layout(Protocol):
    """Where an instance's files are."""

    @property
    def record(self) -> Path:
        """The file with what is remembered."""

    def check_own(self, files: IFiles) -> None:
        """@raise HypervisorError: somebody else could have said what is to be in it."""


async def save(files: IFiles, path: Path, record: msgspec.Struct) -> None:
    """@raise HypervisorError: the disk does not take it."""
    await write(files, path, msgspec.json.encode(record))


async def write(files: IFiles, path: Path, data: bytes, mode: int = MODE) -> None:
    """@raise HypervisorError: the disk does not take it."""
    try:
        await files.write_atomic(path, data, mode)
    except OSError as error:
        raise HypervisorError(f"cannot write {path}: {error.strerror or error}")


def load(files: IFiles, layout: Layout, kind: type[Record]) -> Record | None:
    """None when nothing is remembered. @raise HypervisorError: it cannot be read, or somebody else could have written it."""
    layout.check_own(files)
    return read(files, layout.record, kind)


def read(files: IFiles, path: Path, kind: type[Record]) -> Record | None:
    """None when it is not there. @raise HypervisorError: it cannot be read."""
    try:
        return msgspec.json.decode(files.read(path, LIMIT), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise HypervisorError(f"cannot read {path}: {error}")
