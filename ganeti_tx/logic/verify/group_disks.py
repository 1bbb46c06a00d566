"""Looking for disks in one group that are broken, missing or not ready though they should be."""

from collections.abc import Sequence

from ganeti_tx.logic.verify.disks import DiskStates, disk_states, is_volume, placed, whole_tree
from ganeti_tx.logic.verify.unit import GroupVerification
from ganeti_tx.model.disk_template import Mirrored
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpGroupVerifyDisks
from ganeti_tx.model.status import LocalDiskStatus
from ganeti_tx.rpc.calls.disk import DiskState
from ganeti_tx.rpc.calls.mirror import DrbdNeedsActivation
from ganeti_tx.rpc.interfaces import RpcError

#: Nodes that said nothing, with the reason; instances whose disks are to be activated; missing volumes by instance,
#: each with its node.
Found = tuple[dict[str, str], list[str], dict[str, list[list[str]]]]


class LUGroupVerifyDisks(GroupVerification[OpGroupVerifyDisks]):
    """Only the disks count of instances that should have theirs ready."""

    async def execute(self) -> Found:
        """Ask the nodes."""
        views = [view for view in self.scene.instances if view.instance.disks_active]
        online = {node.name: True for node in self.scene.everything.nodes.values() if not node.offline}
        states, faults = await disk_states(self, views, online)
        unready = await self._unready(views, faults)
        broken = [view.instance.name for view in views if needs_activation(view, states, unready)]
        missing = {view.instance.name: lost for view in views if (lost := missing_volumes(view, states))}
        return faults, sorted(broken), missing

    async def _unready(self, views: Sequence[InstanceView], faults: dict[str, str]) -> set[tuple[str, str]]:
        """Mirrors that nodes say have to be assembled again, by node and uuid."""
        wanted: dict[str, tuple[Node, list[DiskSpec]]] = {}
        for view in views:
            for node, _, spec in placed(view):
                if is_mirror(spec) and not node.offline and node.name not in faults:
                    wanted.setdefault(node.name, (node, []))[1].append(spec)
        found: set[tuple[str, str]] = set()
        for name, (node, specs) in wanted.items():
            try:
                uuids = await self.nodes.call(node, DrbdNeedsActivation(disks=specs))
            except RpcError as error:
                faults[name] = error.reason
            else:
                found.update((name, uuid) for uuid in uuids)
        return found


def is_mirror(spec: DiskSpec) -> bool:
    """Whether two nodes keep it alike."""
    return TEMPLATES[DiskTemplate(spec.dev_type)].mirrored is Mirrored.INTERNALLY


def needs_activation(view: InstanceView, states: DiskStates, unready: set[tuple[str, str]]) -> bool:
    """Whether a mirror of an instance is broken where its node could tell."""
    mirrors = [(node.name, spec.uuid) for node, _, spec in placed(view) if is_mirror(spec) and not node.offline]
    return any(key in unready or is_broken(states.get(key, DiskState(fault="unknown"))) for key in mirrors)


def is_broken(state: DiskState) -> bool:
    """Whether a mirror is there, and bad, or is not there."""
    if state.fault:
        return False
    status = state.status
    if status is None:
        return True
    return status.ldisk_status is LocalDiskStatus.FAULTY or (status.is_degraded and status.sync_percent is None)


def missing_volumes(view: InstanceView, states: DiskStates) -> list[list[str]]:
    """The volumes that are not on their nodes."""
    return [
        [node.name, "/".join(map(str, part.logical_id or ()))]
        for node, _, spec in placed(view)
        for part in whole_tree(spec)
        if is_volume(part) and states.get((node.name, part.uuid), DiskState(fault="unknown")) == DiskState()
    ]
