"""The disks of an instance as gnt-instance info shows them."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.logic.disks.questions import DiskQuestions, DiskStates, Side
from ganeti_tx.model import logical_id
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_formats import format_of
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.disk_template import RAW
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.logical_id import Minor, NodeUuid, Port
from ganeti_tx.model.mirror_state import is_split, why_apart
from ganeti_tx.model.status import BlockDevStatus


def disk_questions(target: InstanceView, questions: DiskQuestions) -> list[Sequence[Side]]:
    """Ask for the state of each disk on the primary node, and for that on the secondary one."""
    specs = {node.uuid: target.disk_specs(node) for node in (target.primary, *target.secondaries)}
    found: list[Sequence[Side]] = []
    for index, disk in enumerate(target.disks):
        homes = [target.primary, *(node for node in target.secondaries if node.uuid in disk.nodes)]
        found.append([questions.add(node, without_secret(specs[node.uuid][index])) for node in homes[:2]])
    return found


def disks_data(
    target: InstanceView, sides: Sequence[Sequence[Side]] | None, states: DiskStates
) -> list[dict[str, Any]]:
    """The disks as they are configured, with the states of their sides if these were asked for."""
    of_each = sides if sides is not None else [()] * len(target.disks)
    return [
        with_states(described(target, disk), of_disk, states)
        for disk, of_disk in zip(target.disks, of_each, strict=True)
    ]


def with_states(data: dict[str, Any], sides: Sequence[Side], states: DiskStates) -> dict[str, Any]:
    """What is described, and all that it is made of, with the states of its sides: that on the primary node comes first.

    A mirror whose sides are not alike has why, for each side ("papart", "sapart"; Ganeti's own data have no such thing), and
    whether somebody has to say which of them counts ("split_brain").
    """
    found = [states.of(side) for side in sides]
    primary, secondary = [*map(state_words, found), None, None][:2]
    children = [
        with_states(child, [side.children[index] for side in sides], states)
        for index, child in enumerate(data["children"])
    ]
    return {**data, "pstatus": primary, "sstatus": secondary, "children": children, **apart(found)}


def apart(found: Sequence[BlockDevStatus | None]) -> dict[str, Any]:
    """Why the two sides of a mirror are not alike; empty if they are, become so, or do not tell."""
    here, there = [*(None if each is None else each.mirror for each in found), None, None][:2]
    sides = (("papart", here, there), ("sapart", there, here))
    told = {key: why_apart(own, other) for key, own, other in sides if own is not None}
    return {**told, "split_brain": True} if here is not None and is_split(here, there) else told


def described(target: InstanceView, disk: Disk) -> dict[str, Any]:
    """What the configuration says of a disk and of those it is made of; how it lies in its file if that is not as Ganeti has it."""
    own = format_of(disk.template, disk.params)
    return {
        **({"format": own} if own != RAW else {}),
        "iv_name": disk.iv_name,
        "dev_type": disk.dev_type.value,
        "logical_id": shown_id(target, disk),
        "volume": volume(disk),
        "drbd_info": mirror_place(target, disk),
        "mode": disk.mode,
        "size": disk.size,
        "spindles": disk.spindles,
        "name": disk.name,
        "uuid": disk.uuid,
        "children": [described(target, child) for child in disk.children],
    }


def shown_id(target: InstanceView, disk: Disk) -> list[str | int]:
    """The logical id; that of a mirror with its nodes' names and without its secret, for job files keep results."""
    names = {uuid: node.name for uuid, node in target.nodes.items()}
    return logical_id.shown(disk.template.logical_id, disk.logical_id, names)


def volume(disk: Disk) -> str | None:
    """What lies in a pool that an operator may choose, as administrators write it: the pool, and its name there."""
    return (
        "/".join(map(str, disk.logical_id or ())) if disk.template.pool_key is not None and not disk.children else None
    )


def mirror_place(target: InstanceView, disk: Disk) -> dict[str, str | int] | None:
    """Where both sides of a mirror are, by the names that Ganeti's own commands look for; None of another disk."""
    shape = disk.template.logical_id
    nodes, minors = (logical_id.parts(shape, kind, disk.logical_id) for kind in (NodeUuid, Minor))
    if not minors:
        return None
    first, second = (target.nodes[uuid].name for uuid in nodes)
    (port,) = logical_id.parts(shape, Port, disk.logical_id)
    return {
        "primary_node": first,
        "primary_minor": minors[0],
        "secondary_node": second,
        "secondary_minor": minors[1],
        "port": port,
    }


def state_words(state: BlockDevStatus | None) -> list[Any] | None:
    """[path, major, minor, sync percent, estimated seconds, degraded, local state]."""
    if state is None:
        return None
    return [
        *(state.dev_path, state.major, state.minor, state.sync_percent),
        *(state.estimated_time, state.is_degraded, state.ldisk_status),
    ]
