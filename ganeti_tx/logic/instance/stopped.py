"""What is done to an instance only while it is stopped."""

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.instance.presence import is_running, seen_running
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.rpc.calls.instance import RunningInstance
from ganeti_tx.rpc.interfaces import INodeRpc

#: The step that clears away an instance whose user has shut it down.
CLEAR = "remove what is left of its last run"


def check_node_online(target: InstanceView, verb: str) -> None:
    """@raise OpPrereqError: the primary node is marked offline."""
    if target.primary.offline:
        raise OpPrereqError(f"Instance primary node offline, cannot {verb}: {target.primary.name}", ECode.STATE)


async def check_stopped(nodes: INodeRpc, target: InstanceView, verb: str) -> RunningInstance | None:
    """What is left of the instance after its user has shut it down. @raise OpPrereqError: it is to be up, or runs."""
    name = target.instance.name
    if target.instance.admin_state is AdminState.UP:
        raise OpPrereqError(
            f"Instance '{name}' is marked to be up, cannot {verb}; 'gnt-instance shutdown {name}' stops it", ECode.STATE
        )
    seen = await seen_running(nodes, target)
    if is_running(seen):
        raise OpPrereqError(
            f"Instance '{name}' is running on node {target.primary.name}, cannot {verb}; 'gnt-instance shutdown {name}' "
            "stops it",
            ECode.STATE,
        )
    return seen


async def check_gone(nodes: INodeRpc, target: InstanceView, verb: str) -> None:
    """@raise OpPrereqError: it is to be up, or runs, or its user has shut it down and its machine still has its disks."""
    name = target.instance.name
    if await check_stopped(nodes, target, verb) is not None:
        raise OpPrereqError(
            f"something is left of the last run of instance '{name}' on node {target.primary.name}, cannot {verb};"
            f" 'gnt-instance shutdown {name}' removes it",
            ECode.STATE,
        )
