"""What a node remembers of its domains: which are ours, and what a restarted daemon must know of them."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import msgspec

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.xen.layout import DomainLayout
from ganeti_tx.runtime.files import IFiles

LIMIT = 1 << 16
MODE = 0o600
Record = TypeVar("Record", bound=msgspec.Struct)


class DomainRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One instance from just before its start until everything of it is gone.

    @ivar uuid: the domain's; a domain of the same name with another one is somebody else's.
    @ivar memory: MiB that it was started with.
    @ivar stays: whether its domain is kept when its guest has powered itself off.
    @ivar exits_on_reboot: whether it ends when its guest asks for a reboot.
    @ivar disks: where they are on this node.
    """

    uuid: str
    memory: int
    vcpus: int
    stays: bool = False
    exits_on_reboot: bool = False
    disks: Sequence[str] = ()


class Role(StrEnum):
    """Which end of a migration is here."""

    SENDING = "sending"
    INCOMING = "incoming"


class MoveRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A migration that was begun: the process that does it, and when that was, in seconds since the epoch."""

    role: Role
    pid: int
    started: float


def load_domain(files: IFiles, layout: DomainLayout) -> DomainRecord | None:
    """None when nothing is remembered. @raise HypervisorError: it cannot be read."""
    layout.check_own(files)
    return _load(files, layout.record, DomainRecord)


def load_move(files: IFiles, layout: DomainLayout) -> MoveRecord | None:
    """None when there is no migration. @raise HypervisorError: it cannot be read."""
    layout.check_own(files)
    return _load(files, layout.move, MoveRecord)


async def save(files: IFiles, path: Path, record: DomainRecord | MoveRecord) -> None:
    """@raise HypervisorError: the disk does not take it."""
    await write(files, path, msgspec.json.encode(record), MODE)


async def write(files: IFiles, path: Path, data: bytes, mode: int) -> None:
    """@raise HypervisorError: the disk does not take it."""
    try:
        await files.write_atomic(path, data, mode)
    except OSError as error:
        raise HypervisorError(f"cannot write {path}: {error.strerror or error}")


def _load(files: IFiles, path: Path, kind: type[Record]) -> Record | None:
    try:
        return msgspec.json.decode(files.read(path, LIMIT), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise HypervisorError(f"cannot read {path}: {error}")
