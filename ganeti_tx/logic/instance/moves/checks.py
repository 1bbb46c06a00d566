"""What must be true of the target of a move before anything is done."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.disks.apart import why_degraded
from ganeti_tx.logic.disks.exclusive import check_wanted
from ganeti_tx.logic.disks.on_nodes import Warn
from ganeti_tx.logic.disks.room import check_disk_room
from ganeti_tx.logic.instance.moves.move import Move
from ganeti_tx.logic.instance.presence import check_bridges, refuse_others_machine
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.policy import check_move
from ganeti_tx.logic.questions import ask, check_online, check_takes_instances
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.exclusive_storage import is_exclusive
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.rpc.calls.disk import BlockdevStates, DiskState
from ganeti_tx.rpc.calls.instance import HypervisorValidateParams, InstanceInfo
from ganeti_tx.rpc.interfaces import PROMPT, INodeRpc, RpcError


async def check_target(nodes: INodeRpc, move: Move, *, ignore_policy: bool, warn: Warn) -> None:
    """The target may have the instance, and has its networks, its bridges and its disks. @raise OpPrereqError: it has not."""
    if move.is_mirrored:
        check_online(move.target, f"run instance {move.name} there")
    else:
        check_takes_instances(move.target)
    check_move(move.before, move.after.group, ignored=ignore_policy, warn=warn)
    check_networks(move)
    await check_bridges(nodes, move.after)
    if move.is_up:
        spec = move.after.spec()
        await ask(nodes, move.target, HypervisorValidateParams.of(spec))
    if not move.is_mirrored and not move.copies:
        await check_reached(nodes, move)


async def check_no_others(nodes: INodeRpc, move: Move) -> None:
    """@raise OpPrereqError: another one's machine has the instance's name on the target; one that does not tell is tried."""
    try:
        seen = await nodes.call(move.target, InstanceInfo.of(move.instance), timeout=PROMPT)
    except RpcError:
        return
    refuse_others_machine(seen, move.instance, move.target)


async def check_room(parts: Parts, move: Move) -> None:
    """@raise OpPrereqError: the target has no room for copies of the disks."""
    exclusive = is_exclusive(move.after.cluster, move.after.group)
    check_wanted(
        move.after.cluster, move.after.group, [move.after.disk_template], [d.spindles for d in move.after.disks]
    )
    wanted = [(disk, disk.size) for disk in move.before.disks]
    await check_disk_room(parts.nodes, move.before.cluster, [move.target], wanted, exclusive=exclusive)


def check_networks(move: Move) -> None:
    """@raise OpPrereqError: a network of the instance is not connected to the target's group."""
    group = move.after.group
    for index, nic in enumerate(move.instance.nics):
        if nic.network is not None and nic.network not in group.networks:
            name = move.before.networks[nic.network].name
            raise OpPrereqError(
                f"nic/{index} of instance {move.name} is on network {name}, which is not connected to node group"
                f" {group.name} of node {move.target.name}; 'gnt-network connect' does that",
                ECode.STATE,
            )


async def check_reached(nodes: INodeRpc, move: Move) -> None:
    """@raise OpPrereqError: the target does not reach a disk that is said to be shared."""
    specs = move.after.disk_specs()
    if not specs:
        return
    for spec, state in zip(specs, await states_on_target(nodes, move), strict=True):
        if state.status is None:
            reason = state.fault or "it is not there"
            raise OpPrereqError(
                f"disk/{spec.index} of instance {move.name} cannot be reached from node {move.target.name}: {reason}",
                ECode.ENVIRON,
            )


async def states_on_target(nodes: INodeRpc, move: Move) -> Sequence[DiskState]:
    """How the disks are there."""
    specs: list[DiskSpec] = [without_secret(spec) for spec in move.after.disk_specs()]
    return await ask(nodes, move.target, BlockdevStates(disks=specs), ECode.ENVIRON)


async def first_degraded(nodes: INodeRpc, move: Move) -> str | None:
    """What is said of the first mirrored disk that is not whole on the target, and why it is not, as far as nodes tell."""
    for index, state in enumerate(await states_on_target(nodes, move)):
        if state.status is None or state.status.is_degraded:
            why = await why_degraded(nodes, move.before, move.target, index)
            return f"disk/{index} of instance {move.name} is degraded on node {move.target.name}" + (
                why and f" ({why})"
            )
    return None
