"""Opcodes that move instances out of the cluster."""

from typing import Any

from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.types import (
    DEFAULT_SHUTDOWN_TIMEOUT,
    NO_COMPRESSION,
    ExportMode,
    NonEmpty,
    Seconds,
)


class OpBackupPrepare(OpCode, tag="OP_BACKUP_PREPARE"):
    """Gather what another cluster needs to accept an instance."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    mode: ExportMode


class OpBackupExport(OpCode, tag="OP_BACKUP_EXPORT"):
    """Write the disks and parameters of an instance to a node, or to another cluster."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    compress: str = NO_COMPRESSION
    shutdown_timeout: Seconds = DEFAULT_SHUTDOWN_TIMEOUT
    target_node: NonEmpty | tuple[Any, ...]
    target_node_uuid: NonEmpty | None = None
    shutdown: bool = True
    remove_instance: bool = False
    ignore_remove_failures: bool = False
    mode: ExportMode = ExportMode.LOCAL
    x509_key_name: tuple[Any, ...] | None = None
    destination_x509_ca: NonEmpty | None = None
    zero_free_space: bool = False
    zeroing_timeout_fixed: int | None = None
    zeroing_timeout_per_mib: float | None = None
    long_sleep: bool = False


class OpBackupRemove(OpCode, tag="OP_BACKUP_REMOVE"):
    """Delete the export of an instance from all nodes."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
