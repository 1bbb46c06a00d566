"""Opcodes about node groups."""

from ganeti_tx.model.enums import AllocPolicy, DiskTemplate
from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.types import NonEmpty, Params


class OpGroupAdd(OpCode, tag="OP_GROUP_ADD"):
    """Make a node group."""

    summary_field = "group_name"

    group_name: NonEmpty
    alloc_policy: AllocPolicy | None = None
    ndparams: Params | None = None
    diskparams: dict[DiskTemplate, Params] | None = None
    hv_state: Params | None = None
    disk_state: Params | None = None
    ipolicy: Params | None = None


class OpGroupAssignNodes(OpCode, tag="OP_GROUP_ASSIGN_NODES"):
    """Move nodes to a group."""

    summary_field = "group_name"

    group_name: NonEmpty
    force: bool = False
    nodes: tuple[NonEmpty, ...]
    node_uuids: tuple[NonEmpty, ...] | None = None


class OpGroupSetParams(OpCode, tag="OP_GROUP_SET_PARAMS"):
    """Change settings of a group; what is null stays."""

    summary_field = "group_name"

    group_name: NonEmpty
    alloc_policy: AllocPolicy | None = None
    ndparams: Params | None = None
    diskparams: dict[DiskTemplate, Params] | None = None
    hv_state: Params | None = None
    disk_state: Params | None = None
    ipolicy: Params | None = None


class OpGroupRemove(OpCode, tag="OP_GROUP_REMOVE"):
    """Delete a group without nodes."""

    summary_field = "group_name"

    group_name: NonEmpty


class OpGroupRename(OpCode, tag="OP_GROUP_RENAME"):
    """Give a group another name."""

    group_name: NonEmpty
    new_name: NonEmpty


class OpGroupEvacuate(OpCode, tag="OP_GROUP_EVACUATE"):
    """Move all instances of a group to other groups."""

    summary_field = "group_name"

    group_name: NonEmpty
    early_release: bool = False
    iallocator: NonEmpty | None = None
    target_groups: tuple[NonEmpty, ...] | None = None
    sequential: bool = False
    force_failover: bool = False


class OpGroupVerifyDisks(OpCode, tag="OP_GROUP_VERIFY_DISKS"):
    """Look for broken disks in one group."""

    summary_field = "group_name"

    group_name: NonEmpty
