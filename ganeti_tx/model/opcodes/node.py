"""Opcodes about nodes."""

from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.types import (
    EvacuationMode,
    MigrationMode,
    NonEmpty,
    OobCommand,
    Params,
)


class OpNodeAdd(OpCode, tag="OP_NODE_ADD"):
    """Take a machine into the cluster, or take it back."""

    summary_field = "node_name"

    node_name: NonEmpty
    hv_state: Params | None = None
    disk_state: Params | None = None
    primary_ip: NonEmpty | None = None
    secondary_ip: NonEmpty | None = None
    readd: bool = False
    group: NonEmpty | None = None
    master_capable: bool | None = None
    vm_capable: bool | None = None
    ndparams: Params | None = None
    node_setup: bool = False


class OpNodeRemove(OpCode, tag="OP_NODE_REMOVE"):
    """Release a node without instances from the cluster."""

    summary_field = "node_name"

    node_name: NonEmpty
    node_uuid: NonEmpty | None = None


class OpNodeSetParams(OpCode, tag="OP_NODE_SET_PARAMS"):
    """Change the role or settings of a node; what is null stays."""

    summary_field = "node_name"

    node_name: NonEmpty
    node_uuid: NonEmpty | None = None
    force: bool = False
    hv_state: Params | None = None
    disk_state: Params | None = None
    master_candidate: bool | None = None
    offline: bool | None = None
    drained: bool | None = None
    auto_promote: bool = False
    master_capable: bool | None = None
    vm_capable: bool | None = None
    secondary_ip: NonEmpty | None = None
    ndparams: Params | None = None
    powered: bool | None = None


class OpNodePowercycle(OpCode, tag="OP_NODE_POWERCYCLE"):
    """Reset the machine of a node through its own kernel."""

    summary_field = "node_name"

    node_name: NonEmpty
    node_uuid: NonEmpty | None = None
    force: bool = False


class OpNodeEvacuate(OpCode, tag="OP_NODE_EVACUATE"):
    """Submit the jobs that bring instances away from a node."""

    summary_field = "node_name"

    early_release: bool = False
    node_name: NonEmpty
    node_uuid: NonEmpty | None = None
    remote_node: NonEmpty | None = None
    remote_node_uuid: NonEmpty | None = None
    iallocator: NonEmpty | None = None
    mode: EvacuationMode
    ignore_soft_errors: bool | None = None


class OpNodeMigrate(OpCode, tag="OP_NODE_MIGRATE"):
    """Submit the jobs that migrate all primary instances of a node."""

    summary_field = "node_name"

    node_name: NonEmpty
    node_uuid: NonEmpty | None = None
    mode: MigrationMode | None = None
    live: bool | None = None
    target_node: NonEmpty | None = None
    target_node_uuid: NonEmpty | None = None
    allow_runtime_changes: bool = True
    ignore_ipolicy: bool = False
    iallocator: NonEmpty | None = None


class OpOobCommand(OpCode, tag="OP_OOB_COMMAND"):
    """Run the out-of-band program for nodes, such as for their power."""

    node_names: tuple[NonEmpty, ...] = ()
    node_uuids: tuple[NonEmpty, ...] | None = None
    command: OobCommand
    timeout: int = 60
    ignore_status: bool = False
    power_delay: float = 2.0


class OpRestrictedCommand(OpCode, tag="OP_RESTRICTED_COMMAND"):
    """Run a command that the administrator has laid out on the nodes."""

    use_locking: bool = False
    nodes: tuple[NonEmpty, ...]
    node_uuids: tuple[NonEmpty, ...] | None = None
    command: NonEmpty
