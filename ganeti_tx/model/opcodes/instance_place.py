"""Opcodes about where an instance runs."""

from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.types import (
    DEFAULT_SHUTDOWN_TIMEOUT,
    NO_COMPRESSION,
    MigrationMode,
    NonEmpty,
    Seconds,
)


class OpInstanceFailover(OpCode, tag="OP_INSTANCE_FAILOVER"):
    """Stop an instance and start it on another node that has its disks, or gets a copy of them."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    shutdown_timeout: Seconds = DEFAULT_SHUTDOWN_TIMEOUT
    ignore_consistency: bool = False
    target_node: NonEmpty | None = None
    target_node_uuid: NonEmpty | None = None
    ignore_ipolicy: bool = False
    cleanup: bool = False
    iallocator: NonEmpty | None = None
    secondary_node: NonEmpty | None = None
    secondary_node_uuid: NonEmpty | None = None
    wait_for_sync: bool = False


class OpInstanceMigrate(OpCode, tag="OP_INSTANCE_MIGRATE"):
    """Move a running instance to another node that has its disks, or gets a copy of them."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    mode: MigrationMode | None = None
    live: bool | None = None
    target_node: NonEmpty | None = None
    target_node_uuid: NonEmpty | None = None
    allow_runtime_changes: bool = True
    ignore_ipolicy: bool = False
    cleanup: bool = False
    iallocator: NonEmpty | None = None
    allow_failover: bool = False
    ignore_hvversions: bool = False
    secondary_node: NonEmpty | None = None
    secondary_node_uuid: NonEmpty | None = None
    copy_disks: bool = False


class OpInstanceMove(OpCode, tag="OP_INSTANCE_MOVE"):
    """Copy the disks of an instance to another node and run it there."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    shutdown_timeout: Seconds = DEFAULT_SHUTDOWN_TIMEOUT
    ignore_ipolicy: bool = False
    target_node: NonEmpty
    target_node_uuid: NonEmpty | None = None
    compress: str = NO_COMPRESSION
    ignore_consistency: bool = False


class OpInstanceChangeGroup(OpCode, tag="OP_INSTANCE_CHANGE_GROUP"):
    """Submit the jobs that bring an instance to another group."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    early_release: bool = False
    iallocator: NonEmpty | None = None
    target_groups: tuple[NonEmpty, ...] | None = None
