"""The volume group that a cluster is to use: every node that can have instances has it, and it is of some size."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.node import Node
from ganeti_tx.model.storage_unit import MIN_GROUP_SIZE
from ganeti_tx.rpc.calls.node import NodeInfo, StorageUnit


async def check_volume_group(parts: Parts, name: str, nodes: Sequence[Node]) -> None:
    """A node that does not answer is warned of.

    @raise OpPrereqError: a node does not have the group, or too small a one.
    """
    able = [node for node in nodes if node.vm_capable and not node.offline]
    call = NodeInfo(storage_units=[StorageUnit(StorageType.LVM_VG.value, name)], hypervisors=[])
    for node_name, outcome in (await parts.nodes.call_many(able, call)).items():
        if outcome.error is not None:
            parts.warn(f"node {node_name} does not tell whether it has volume group {name}: {outcome.error}")
            continue
        size = next((space.storage_size for space in outcome.get().storage), None)
        if size is None:
            raise OpPrereqError(f"Error on node '{node_name}': volume group '{name}' missing", ECode.ENVIRON)
        if size < MIN_GROUP_SIZE:
            raise OpPrereqError(
                f"Error on node '{node_name}': volume group '{name}' too small ({size} MiB, {MIN_GROUP_SIZE} MiB minimum)",
                ECode.ENVIRON,
            )
