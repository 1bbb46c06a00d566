"""Opcodes about the disks of an instance."""

from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.types import (
    DiskIndex,
    DiskToRecreate,
    MiB,
    NonEmpty,
    NonNegative,
    ReplaceDisksMode,
)


class OpInstanceActivateDisks(OpCode, tag="OP_INSTANCE_ACTIVATE_DISKS"):
    """Make the disks of an instance usable on its primary node."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    ignore_size: bool = False
    wait_for_sync: bool = False


class OpInstanceDeactivateDisks(OpCode, tag="OP_INSTANCE_DEACTIVATE_DISKS"):
    """Shut down the disks of a stopped instance."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    force: bool = False


class OpInstanceGrowDisk(OpCode, tag="OP_INSTANCE_GROW_DISK"):
    """Enlarge a disk by an amount, or to it when absolute."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    wait_for_sync: bool = True
    disk: DiskIndex
    amount: MiB
    absolute: bool = False
    ignore_ipolicy: bool = False


class OpInstanceRecreateDisks(OpCode, tag="OP_INSTANCE_RECREATE_DISKS"):
    """Make lost disks of an instance anew, empty."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    disks: tuple[NonNegative | DiskToRecreate, ...] = ()
    nodes: tuple[NonEmpty, ...] = ()
    node_uuids: tuple[NonEmpty, ...] | None = None
    iallocator: NonEmpty | None = None

    def __post_init__(self) -> None:
        if len({isinstance(disk, int) for disk in self.disks}) > 1:
            raise ValueError("disks: expected all as indexes or all as [index, parameters], got both")


class OpInstanceReplaceDisks(OpCode, tag="OP_INSTANCE_REPLACE_DISKS"):
    """Replace the volumes below mirrored disks, or the node that holds the mirror."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    early_release: bool = False
    ignore_ipolicy: bool = False
    mode: ReplaceDisksMode
    disks: tuple[DiskIndex, ...] = ()
    remote_node: NonEmpty | None = None
    remote_node_uuid: NonEmpty | None = None
    iallocator: NonEmpty | None = None
