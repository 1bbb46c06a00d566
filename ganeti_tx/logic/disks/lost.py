"""Disks that are not there when an instance is to start."""

from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.disk_template import Adoption, Mirrored
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.rpc.calls.disk import BlockdevStates
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError


async def what_mends_lost(nodes: INodeRpc, view: InstanceView) -> str:
    """The end of a line about a start that has failed: what makes disks anew that its node does not have; else nothing.

    Mirrored ones are made from their other copy instead, those of shared storage may only be out of reach of this node, and what
    is not the cluster's own nobody can make.
    """
    specs = [without_secret(spec) for spec in view.disk_specs()]
    if any(
        disk.template.mirrored is not Mirrored.NOT or disk.template.adoption is Adoption.ALWAYS for disk in view.disks
    ):
        return ""
    try:
        states = await nodes.call(view.primary, BlockdevStates(disks=specs)) if specs else []
    except RpcError:
        return ""
    lost = [index for index, state in enumerate(states) if state.status is None and not state.fault]
    if not lost:
        return ""
    name = view.instance.name
    chosen = "" if len(lost) == len(specs) else "".join(f"--disk {index} " for index in lost)
    first = f"'gnt-instance shutdown {name}' and then " if view.instance.admin_state is AdminState.UP else ""
    return f"; if it is lost, {first}'gnt-instance recreate-disks {chosen}{name}' makes it anew, empty"
