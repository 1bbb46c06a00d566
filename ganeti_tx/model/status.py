"""What nodes report of devices and migrations."""

from ganeti_tx.model.base import Wire


class BlockDevStatus(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """The state of a block device; `estimated_time` is in seconds."""

    dev_path: str | None = None
    major: int | None = None
    minor: int | None = None
    sync_percent: float | None = None
    estimated_time: float | None = None
    is_degraded: bool | None = None
    ldisk_status: int | None = None


class MigrationStatus(Wire, frozen=True, kw_only=True):
    """How far a migration is; memory in bytes."""

    status: str
    transferred_ram: int | None = None
    total_ram: int | None = None
    postcopy_status: str | None = None
