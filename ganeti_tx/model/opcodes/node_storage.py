"""Opcodes about the storage of nodes."""

from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.types import NonEmpty, Params


class OpNodeQueryvols(OpCode, tag="OP_NODE_QUERYVOLS"):
    """List the logical volumes of nodes."""

    output_fields: tuple[NonEmpty, ...]
    nodes: tuple[NonEmpty, ...] = ()


class OpNodeQueryStorage(OpCode, tag="OP_NODE_QUERY_STORAGE"):
    """List the storage units of nodes."""

    output_fields: tuple[NonEmpty, ...]
    storage_type: StorageType | None = None
    nodes: tuple[NonEmpty, ...] = ()
    name: NonEmpty | None = None


class OpNodeModifyStorage(OpCode, tag="OP_NODE_MODIFY_STORAGE"):
    """Change a storage unit of a node, such as whether it takes new volumes."""

    summary_field = "node_name"

    node_name: NonEmpty
    node_uuid: NonEmpty | None = None
    storage_type: StorageType
    name: NonEmpty | None = None
    changes: Params


class OpRepairNodeStorage(OpCode, tag="OP_REPAIR_NODE_STORAGE"):
    """Repair a volume group of a node."""

    summary_field = "node_name"

    node_name: NonEmpty
    node_uuid: NonEmpty | None = None
    storage_type: StorageType
    name: NonEmpty | None = None
    ignore_consistency: bool = False
