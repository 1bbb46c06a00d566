"""Disks that are made of what is there already (reference: storage-rules.json, adoption)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import attrs

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.disks.plan import DiskPlan, adopted_id
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import ask
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_template import Adoption
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.instance_view import InstanceViews
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.disk import BdevSizes, FoundDevice
from ganeti_tx.rpc.interfaces import INodeRpc

LogicalId = tuple[Any, ...]


async def with_sizes(
    parts: Parts, primary: Node, plans: Sequence[DiskPlan], own: Collection[str] = ()
) -> list[DiskPlan]:
    """The disks, those that adopt something with the size of that.

    @param own: disks (uuids) that reserve it for the same instance.
    @raise OpPrereqError: it is not there, in use, or an instance's; or it is shared storage, and another node of the group
        does not see the same.
    """
    adopting = [plan for plan in plans if plan.adopt is not None]
    if not adopting:
        return list(plans)
    taken = owned(await parts.config.everything(), own)
    for key in map(adopted_id, adopting):
        if key in taken:
            raise OpPrereqError(f"{shown(key)} cannot be adopted: it is {taken[key]}'s", ECode.NOTUNIQUE)
    sizes = {key: device.size for key, device in (await look(parts.nodes, primary, adopting, taken)).items()}
    if TEMPLATES[adopting[0].template].shared:
        await check_elsewhere(parts, primary, adopting, sizes)
    return [plan if plan.adopt is None else attrs.evolve(plan, size=sizes[adopted_id(plan)]) for plan in plans]


def owned(everything: InstanceViews, own: Collection[str]) -> dict[LogicalId, str]:
    """Whose each disk of the configuration is, and each that one is made of, by logical id; `own` are left out."""
    owners = {uuid: f"instance {instance.name}" for instance in everything.instances for uuid in instance.disks}
    return {
        part.logical_id: owners.get(disk.uuid, f"disk {disk.uuid}")
        for disk in everything.disks.values()
        if disk.uuid not in own
        for part in parts_of(disk)
        if part.logical_id
    }


def parts_of(disk: Disk) -> Iterator[Disk]:
    """A disk, and those that it is made of."""
    yield disk
    for child in disk.children:
        yield from parts_of(child)


async def look(
    nodes: INodeRpc, node: Node, plans: Sequence[DiskPlan], taken: Mapping[LogicalId, str]
) -> dict[LogicalId, FoundDevice]:
    """What a node has of what is to be adopted. @raise OpPrereqError: not all, or somebody else has it, by another name."""
    found: dict[LogicalId, FoundDevice] = {}
    for call in questions(plans, taken):
        found.update({tuple(each.logical_id): each for each in await ask(nodes, node, call, ECode.ENVIRON)})
    known = {device.device: f"{taken[key]}'s {shown(key)}" for key, device in found.items() if key in taken}
    for key in map(adopted_id, plans):
        if fault := fault_of(key, found.get(key), node, known):
            raise fault
        known[found[key].device] = shown(key)
    return found


def fault_of(key: LogicalId, device: FoundDevice | None, node: Node, known: Mapping[str, str]) -> OpPrereqError | None:
    """Why something cannot be adopted. @param known: devices that others have, and what these call them."""
    what = f"{shown(key)} cannot be adopted"
    if device is None:
        return OpPrereqError(f"{what}: node {node.name} does not have it", ECode.NOENT)
    if device.device and device.device in known:
        return OpPrereqError(f"{what}: it is the same device as {known[device.device]}", ECode.NOTUNIQUE)
    if device.in_use:
        return OpPrereqError(f"{what}: it is in use on node {node.name}", ECode.STATE)
    return OpPrereqError(f"{what}: it has less than 1 MiB", ECode.INVAL) if device.size < 1 else None


def questions(plans: Sequence[DiskPlan], others: Collection[LogicalId] = ()) -> list[BdevSizes]:
    """One for each place that something is adopted from. @param others: what is to be found there, too."""
    wanted: dict[tuple[str, str], list[list[Any]]] = {}
    for plan in plans:
        template = TEMPLATES[plan.template]
        key = plan.template.value, template.adoptable or plan.place.pool
        more = [list(each) for each in others if template.adoptable and str(each[-1]).startswith(template.adoptable)]
        wanted.setdefault(key, more).append(list(adopted_id(plan)))
    return [BdevSizes(template=word, place=place, wanted=ids) for (word, place), ids in wanted.items()]


async def check_elsewhere(
    parts: Parts, primary: Node, plans: Sequence[DiskPlan], sizes: Mapping[LogicalId, int]
) -> None:
    """The other nodes that may run the instance have the same under the same name; one that cannot tell is warned of.

    @raise OpPrereqError: one has not.
    """
    group = [node for node in await parts.config.nodes() if node.group == primary.group]
    others = [node for node in group if node.name != primary.name and node.vm_capable and not node.offline]
    for call in questions(plans) if others else []:
        for name, outcome in (await parts.nodes.call_many(others, call)).items():
            if outcome.error is not None:
                parts.warn(f"node {name} does not tell whether it has what is adopted: {outcome.error}")
                continue
            there = {tuple(each.logical_id): each.size for each in outcome.get()}
            for key in map(tuple, call.wanted):
                if there.get(key) != sizes[key]:
                    seen = "does not have it" if key not in there else f"sees {there[key]} MiB, not {sizes[key]}"
                    raise OpPrereqError(
                        f"{shown(key)} cannot be adopted: node {name} of the same group {seen}", ECode.ENVIRON
                    )


def shown(logical_id: Sequence[Any] | None) -> str:
    """What is adopted, for people: its path, or its place and name."""
    last = str((logical_id or ("?",))[-1])
    return last if last.startswith("/") else "/".join(map(str, logical_id or ()))


def renamed(plans: Sequence[DiskPlan]) -> dict[int, LogicalId]:
    """What gets the standard name of a disk, by the disk's index; the others keep the name that they have."""
    return {
        index: adopted_id(plan)
        for index, plan in enumerate(plans)
        if plan.adopt is not None and TEMPLATES[plan.template].adoption is Adoption.POSSIBLE
    }
