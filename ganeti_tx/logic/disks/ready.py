"""Making disks ready on all their nodes, going on where one cannot be: what an operator asks for by hand."""

from collections.abc import Collection

from msgspec.structs import replace

from ganeti_tx.logic.disks.on_nodes import Warn, homes
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.disk import BlockdevAssemble
from ganeti_tx.rpc.interfaces import INodeRpc, NodeOfflineError, RpcError

#: The nodes are gone through twice: first the others, then that on which the instance runs.
OTHERS, PRIMARY = 1, 2


async def make_ready(
    nodes: INodeRpc, target: InstanceView, warn: Warn, *, ignore_size: bool = False, only: Collection[int] | None = None
) -> list[tuple[str, str, str]] | None:
    """Each disk as (primary node, name, path there); None, with a warning each, when some are not ready.

    A node that is offline and is not the primary one is warned of only: a mirror does without.

    @param only: the indices of the disks that are meant; all, if nothing is said.
    """
    chosen = [(index, disk) for index, disk in enumerate(target.disks) if only is None or index in only]
    well = True
    for index, disk in chosen:
        for node in (each for each in homes(target, disk) if each is not target.primary):
            well = await ready_on(nodes, target, node, index, warn, ignore_size) is not None and well
    paths = [
        (target.primary.name, f"disk/{index}", path)
        for index, _ in chosen
        if (path := await ready_on(nodes, target, target.primary, index, warn, ignore_size)) is not None
    ]
    return paths if well and len(paths) == len(chosen) else None


async def ready_on(
    nodes: INodeRpc, target: InstanceView, node: Node, index: int, warn: Warn, ignore_size: bool
) -> str | None:
    """The path of a disk that is ready on a node now, or the URI of one without, empty where a mirror does without; None
    when it is not.
    """
    primary, spec = node is target.primary, target.disk_specs(node)[index]
    call = BlockdevAssemble(
        disk=without_size(spec) if ignore_size else spec,
        owner=target.instance.name,
        hypervisor=target.instance.hypervisor.value,
        on_primary=primary,
    )
    try:
        assembled = await nodes.call(node, call)
    except RpcError as error:
        warn(
            f"Could not prepare block device disk/{index} on node {node.name} "
            f"(is_primary={primary}, pass={PRIMARY if primary else OTHERS}): {error}"
        )
        return "" if isinstance(error, NodeOfflineError) and not primary else None
    return assembled.path or assembled.uri or ""


def without_size(spec: DiskSpec) -> DiskSpec:
    """A disk whose size as it is recorded is not to be compared with what is there."""
    return replace(spec, size=0, children=[without_size(child) for child in spec.children])
