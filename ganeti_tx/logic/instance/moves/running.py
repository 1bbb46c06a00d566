"""What must be true of an instance that is to be migrated while it runs, and what it takes with it."""

from typing import Any

import attrs

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.instance.moves.checks import first_degraded
from ganeti_tx.logic.instance.moves.move import Move
from ganeti_tx.logic.instance.presence import is_running, refuse_others_machine, seen_running
from ganeti_tx.logic.questions import ask
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.instance import InstanceInfo, RunningInstance
from ganeti_tx.rpc.calls.migration import MigrationInfo
from ganeti_tx.rpc.calls.node import NodeInfo
from ganeti_tx.rpc.interfaces import INodeRpc

MARKED_DOWN = "Instance is marked down or offline"


@attrs.frozen
class Passenger:
    """The running instance: what its hypervisor tells of it, its memory in MiB, and to how much it is to be reduced."""

    info: dict[str, Any]
    memory: int
    reduced: int | None = None


async def why_not_running(nodes: INodeRpc, move: Move) -> str | None:
    """Why it cannot be migrated but only failed over, as Ganeti says it. @raise OpPrereqError: its node does not tell."""
    if move.before.spec().beparams["always_failover"]:
        return f"Instance {move.name} is to be failed over always (always_failover)"
    if not move.is_up:
        return MARKED_DOWN
    if not is_running(await seen_running(nodes, move.before)):
        return "Instance is not running"
    return None


async def check_copies(nodes: INodeRpc, move: Move) -> None:
    """@raise OpPrereqError: those that are on the target are not whole."""
    if move.is_mirrored and (fault := await first_degraded(nodes, move)):
        raise OpPrereqError(f"{fault}, which prevents migration; it must be in sync first", ECode.STATE)


async def check_passenger(nodes: INodeRpc, move: Move, *, may_shrink: bool, any_version: bool) -> Passenger:
    """@raise OpPrereqError: the new node's hypervisor is too old, or has no room for it."""
    await check_absent(nodes, move)
    if not any_version:
        await check_versions(nodes, move)
    seen = await seen_running(nodes, move.before)
    assert seen is not None
    info = await ask(nodes, move.source, MigrationInfo(instance=move.before.spec()), ECode.STATE)
    return Passenger(info, seen.memory, await room_for(nodes, move, seen, may_shrink))


async def check_absent(nodes: INodeRpc, move: Move) -> None:
    """@raise OpPrereqError: something of it is there already."""
    seen = await ask(nodes, move.target, InstanceInfo.of(move.instance), ECode.ENVIRON)
    refuse_others_machine(seen, move.instance, move.target)
    if seen is not None:
        raise OpPrereqError(
            f"instance {move.name} runs on node {move.target.name} already, or something is left of it there;"
            f" '{move.clean_up}' finds out",
            ECode.STATE,
        )


async def facts(nodes: INodeRpc, node: Node, hypervisor: str) -> dict[str, Any]:
    """What a node tells of a hypervisor."""
    told = await ask(nodes, node, NodeInfo(storage_units=[], hypervisors=[hypervisor]), ECode.ENVIRON)
    return dict(told.hypervisors.get(hypervisor, {}))


async def check_versions(nodes: INodeRpc, move: Move) -> None:
    """@raise OpPrereqError: the new node's hypervisor is older than what the instance runs under, as far as they tell."""
    kind = move.instance.hypervisor.value
    old, new = [(await facts(nodes, node, kind)).get("hv_version") for node in (move.source, move.target)]
    if is_older(new, old):
        raise OpPrereqError(
            f"node {move.target.name} has {kind} {new}, older than {old} on node {move.source.name}, and cannot take"
            f" instance {move.name} over; --ignore-hvversions tries it all the same",
            ECode.STATE,
        )


def is_older(version: object, than: object) -> bool:
    """Whether one version is older than another; one that is not known is the same as any."""
    here, there = numbers(version), numbers(than)
    return bool(here and there) and here < there


def numbers(version: object) -> tuple[int, ...]:
    """A version to compare; empty for one that is not known."""
    if isinstance(version, str):
        return tuple(int(part) for part in version.split(".") if part.isdigit())
    return tuple(version) if isinstance(version, list | tuple) else ()


async def room_for(nodes: INodeRpc, move: Move, seen: RunningInstance, may_shrink: bool) -> int | None:
    """To how many MiB the instance must be reduced to fit; None: it fits as it is. @raise OpPrereqError: it does not fit."""
    kind = move.instance.hypervisor.value
    free = (await facts(nodes, move.target, kind)).get("memory_free")
    if not isinstance(free, int):
        raise OpPrereqError(
            f"cannot compute free memory of node {move.target.name}: {kind} does not tell", ECode.ENVIRON
        )
    least = int(move.after.spec().beparams["minmem"])
    if seen.memory <= free:
        return None
    if may_shrink and least <= free:
        return max(least, min(free, seen.memory))
    hint = "" if may_shrink else "; without --no-runtime-changes its memory could be reduced"
    raise OpPrereqError(
        f"Not enough memory on node {move.target.name} for migrating instance {move.name}: needed"
        f" {least if may_shrink else seen.memory} MiB, available {free} MiB{hint}",
        ECode.NORES,
    )
