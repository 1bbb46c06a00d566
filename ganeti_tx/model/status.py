"""What nodes report of devices and migrations."""

from collections.abc import Sequence
from enum import IntEnum

from msgspec.structs import replace

from ganeti_tx.model.base import Wire
from ganeti_tx.model.mirror_state import MirrorState


class LocalDiskStatus(IntEnum):
    """How the part of a disk on one node is, from good to bad (reference: storage-rules.json, disk_status)."""

    OK = 1
    SYNC = 2
    UNKNOWN = 3
    FAULTY = 4


class BlockDevStatus(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """The state of a block device that is there; `estimated_time` is in seconds, `size` in MiB and not Ganeti's.

    `dev_path` is empty for what only a hypervisor can open (`IUserspaceUri`).
    """

    dev_path: str
    major: int | None = None
    minor: int | None = None
    sync_percent: float | None = None
    estimated_time: float | None = None
    is_degraded: bool = False
    ldisk_status: LocalDiskStatus = LocalDiskStatus.OK
    size: int
    #: Of a mirror that is not alike with its other side, and does not become so.
    mirror: MirrorState | None = None


def stacked(status: BlockDevStatus, below: "Sequence[BlockDevStatus | None]") -> BlockDevStatus:
    """The state of a device with those that it is made of: its worst part counts, and one that is missing is faulty."""
    parts = [LocalDiskStatus.FAULTY if each is None else each.ldisk_status for each in below]
    return replace(
        status,
        is_degraded=status.is_degraded or any(each is not None and each.is_degraded for each in below),
        ldisk_status=max([status.ldisk_status, *parts]),
    )


class MigrationStatus(Wire, frozen=True, kw_only=True):
    """How far a migration is; memory in bytes."""

    status: str
    transferred_ram: int | None = None
    total_ram: int | None = None
    postcopy_status: str | None = None
