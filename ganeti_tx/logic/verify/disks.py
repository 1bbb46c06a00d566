"""How the disks of instances are on their nodes: asked once for each node, judged for each instance."""

from collections.abc import Iterator, Mapping, Sequence

from ganeti_tx.logic.disks.apart import told_apart
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.verify.scene import Told
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, StorageType
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.status import LocalDiskStatus
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.rpc.calls.disk import BlockdevStates, DiskState
from ganeti_tx.rpc.interfaces import RpcError

#: States by node and the uuid of the disk.
DiskStates = Mapping[tuple[str, str], DiskState]


def whole_tree(disk: DiskSpec) -> Iterator[DiskSpec]:
    """A disk, and those that it is made of."""
    yield disk
    for child in disk.children:
        yield from whole_tree(child)


def placed(view: InstanceView) -> Iterator[tuple[Node, int, DiskSpec]]:
    """Each disk of an instance, with its index, on each node that has it."""
    nodes = (view.primary, *view.secondaries)
    for node in nodes:
        for index, (disk, spec) in enumerate(zip(view.disks, view.disk_specs(node), strict=True)):
            if node.uuid in disk.nodes or node is view.primary:
                yield node, index, spec


async def disk_states(
    parts: Parts, views: Sequence[InstanceView], ready: Mapping[str, object]
) -> tuple[dict[tuple[str, str], DiskState], dict[str, str]]:
    """What nodes say of the disks, and by node why one says nothing. @param ready: the names of nodes that answer."""
    wanted: dict[str, tuple[Node, list[DiskSpec]]] = {}
    for view in views:
        for node, _, spec in placed(view):
            if not node.offline:
                wanted.setdefault(node.name, (node, []))[1].extend(whole_tree(spec))
    states: dict[tuple[str, str], DiskState] = {}
    faults: dict[str, str] = {}
    for name, (node, specs) in wanted.items():
        try:
            answers = await told_by(parts, node, specs) if name in ready else None
        except RpcError as error:
            answers, faults[name] = None, error.reason
        for spec, state in zip(
            specs, answers or [DiskState(fault=faults.get(name, "no answer"))] * len(specs), strict=True
        ):
            states[name, spec.uuid] = state
    return states, faults


async def told_by(parts: Parts, node: Node, specs: list[DiskSpec]) -> list[DiskState]:
    """What a node says of disks, in their order. @raise RpcError: nothing, or of others."""
    states = await parts.nodes.call(node, BlockdevStates(disks=specs))
    if len(states) != len(specs):
        reason = f"it tells of {len(states)} disks, and was asked for {len(specs)}"
        raise RpcError(f"node {node.name}: {reason}", reason)
    return states


def judge_disks(told: Told, view: InstanceView) -> Iterator[Verdict]:
    """Of each disk on each of its nodes."""
    for node, index, spec in placed(view):
        if not node.offline and TEMPLATES[DiskTemplate(spec.dev_type)].has_disks:
            for part in whole_tree(spec):
                state = told.disks.get((node.name, part.uuid), DiskState())
                yield from judge_part(view, node, index, part, state, apart(told, view, node, part))


def apart(told: Told, view: InstanceView, node: Node, spec: DiskSpec) -> str:
    """Why a mirror is not alike on both of its nodes; empty if it is, or nobody tells."""
    sides = {
        each.name: state.status.mirror
        for each in (view.primary, *view.secondaries)
        if (state := told.disks.get((each.name, spec.uuid))) is not None and state.status is not None
    }
    own = sides.pop(node.name, None)
    other = next((side for side in sides.values() if side is not None), None)
    return "" if own is None else f": {told_apart(view, own, other)}"


def called(spec: DiskSpec) -> str:
    """The device of a disk; the last part of a mirror's id is its secret."""
    if spec.ends is not None:
        return f"minor {spec.ends.local_minor}"
    return str((spec.logical_id or ["?"])[-1])


def is_volume(spec: DiskSpec) -> bool:
    """Whether a disk is a logical volume by itself."""
    template = TEMPLATES[DiskTemplate(spec.dev_type)]
    return template.storage is StorageType.LVM_VG and not template.children


def judge_part(
    view: InstanceView, node: Node, index: int, spec: DiskSpec, state: DiskState, why_degraded: str = ""
) -> Iterator[Verdict]:
    """Of a disk, or of one that it is made of."""
    name, where = view.instance.name, f"disk/{index} on {node.name}"
    status = state.status
    if is_volume(spec) and status is None and not state.fault:
        volume = "/".join(map(str, spec.logical_id or ()))
        yield Verdict(VerifyCode.EINSTANCEMISSINGDISK, name, f"volume {volume} missing on {node.name}")
        return
    why = state.fault or f"Can't find device {called(spec)}"
    text = f"couldn't retrieve status for {where}: {why}"
    yield Verdict(VerifyCode.EINSTANCEFAULTYDISK, name, text, status is None)
    faulty = status is not None and status.ldisk_status is LocalDiskStatus.FAULTY
    yield Verdict(VerifyCode.EINSTANCEFAULTYDISK, name, f"{where} is faulty", faulty)
    degraded = status is not None and status.is_degraded and status.sync_percent is None and not faulty
    text = f"{where} is degraded{why_degraded}"
    yield Verdict(VerifyCode.EINSTANCEFAULTYDISK, name, text, degraded and view.instance.disks_active)
