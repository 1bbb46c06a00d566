"""Marking disks as an instance's where they were not made for it, by which an administrator sees on a node whose they are."""

from collections.abc import Collection

from ganeti_tx.logic.disks.on_nodes import Warn, homes
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.rpc.calls.mirror import BlockdevSetinfo
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError


async def mark_disks(nodes: INodeRpc, view: InstanceView, only: Collection[str], warn: Warn) -> None:
    """Mark some disks (uuids) on all nodes that have them; nothing depends on it, so that a failure is only told."""
    owner = view.instance.name
    for index, disk in enumerate(view.disks):
        for node in homes(view, disk) if disk.uuid in only and not disk.template.in_files else ():
            call = BlockdevSetinfo(disk=without_secret(view.disk_specs(node)[index]), owner=owner)
            try:
                await nodes.call(node, call)
            except RpcError as error:
                warn(f"disk/{index} could not be marked as one of instance {owner}: {error}")
