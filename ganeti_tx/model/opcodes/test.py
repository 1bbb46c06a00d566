"""Opcodes for testing the cluster's own machinery."""

from typing import Any

from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.private import Secret
from ganeti_tx.model.opcodes.types import (
    AllocatorDirection,
    AllocatorMode,
    EvacuationMode,
    MiB,
    NicParams,
    NonEmpty,
    NonNegative,
)


class OpTestDelay(OpCode, tag="OP_TEST_DELAY"):
    """Wait, on the master and on nodes, with or without their locks."""

    summary_field = "duration"

    duration: float
    on_master: bool = True
    on_nodes: tuple[NonEmpty, ...] = ()
    on_node_uuids: tuple[NonEmpty, ...] | None = None
    repeat: NonNegative = 0
    interruptible: bool = False
    no_locks: bool = True


class OpTestAllocator(OpCode, tag="OP_TEST_ALLOCATOR"):
    """Ask an allocator without acting on its answer."""

    summary_field = "iallocator"

    direction: AllocatorDirection
    mode: AllocatorMode
    name: NonEmpty
    nics: tuple[NicParams, ...] | None = None
    disks: tuple[Any, ...] | None = None
    hypervisor: Hypervisor | None = None
    iallocator: NonEmpty | None = None
    tags: tuple[NonEmpty, ...] = ()
    memory: MiB | None = None
    vcpus: NonNegative | None = None
    os: NonEmpty | None = None
    disk_template: DiskTemplate | None = None
    instances: tuple[NonEmpty, ...] | None = None
    evac_mode: EvacuationMode | None = None
    target_groups: tuple[NonEmpty, ...] | None = None
    spindle_use: NonNegative = 1
    count: NonNegative = 1
    group_name: NonEmpty | None = None


class OpTestJqueue(OpCode, tag="OP_TEST_JQUEUE"):
    """Show a waiting client each step of a job."""

    notify_waitlock: bool = False
    notify_exec: bool = False
    log_messages: tuple[str, ...] = ()
    fail: bool = False


class OpTestDummy(OpCode, tag="OP_TEST_DUMMY"):
    """Stand in for any opcode where only the queue is tested."""

    wire_required = ("reason", "result", "messages", "fail", "submit_jobs")

    result: Any = None
    messages: Any = None
    fail: Any = None
    submit_jobs: Any = None


class OpTestOsParams(OpCode, tag="OP_TEST_OS_PARAMS"):
    """Carry secret parameters through the queue."""

    osparams_secret: dict[str, Secret] | None = None
