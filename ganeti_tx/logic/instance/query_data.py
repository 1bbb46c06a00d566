"""Everything about instances, as gnt-instance info shows it."""

from collections.abc import Mapping, Sequence, Set
from typing import Any

import msgspec

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.disks.data import disk_questions, disks_data
from ganeti_tx.logic.disks.questions import DiskQuestions, DiskStates, Side
from ganeti_tx.logic.instance.guest_addresses import guest_interfaces
from ganeti_tx.logic.instance.presence import HALTED, SHUT_DOWN_BY_USER, own_machine
from ganeti_tx.logic.side_by_side import side_by_side
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_instance, on_nodes
from ganeti_tx.model.guest_interface import GuestInterfaces
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView, InstanceViews
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpInstanceQueryData
from ganeti_tx.model.params.hypervisor import without_global
from ganeti_tx.rpc.calls.instance import AllInstancesInfo, RunningInstance
from ganeti_tx.rpc.interfaces import NodeOfflineError, NodeUnreachableError, Outcome

#: Seconds that a node has to tell what it runs: what a list gives one that is slower than the others. A candidate that
#: hangs holds the submission up, too, and both are to take no more than `PROMPT`.
LOOK = 4.0
#: What runs on each node that answered, by the node's uuid and the instance's name.
Running = Mapping[str, Mapping[str, RunningInstance]]


class LUInstanceQueryData(LogicalUnit[OpInstanceQueryData]):
    """Static data are the configuration's; the others are asked of the nodes, under locks."""

    _named: list[Instance]
    _targets: list[InstanceView]

    async def expand_names(self) -> None:
        """The instances named; without names every one."""
        self._named = await self.config.instances(list(self.op.instances) or None)

    @property
    def _locking(self) -> bool:
        return self.op.use_locking or not self.op.static

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """Instances and their nodes, all shared."""
        if not self._locking:
            return ()
        if level is Level.INSTANCE:
            return [on_instance(instance.name, Mode.SHARED) for instance in self._named]
        if level is Level.NODE:
            return on_nodes((await self._views()).nodes, Mode.SHARED)
        return ()

    async def check(self) -> None:
        """Each is still called as it was when it was meant; what is called so now may be none of the caller's business."""
        self._targets = (await self._views()).each()
        for named, target in zip(self._named, self._targets, strict=True):
            if self.op.instances and target.instance.name != named.name:
                raise OpPrereqError(f"instance {named.name} was renamed meanwhile; ask again", ECode.STATE)

    async def execute(self) -> dict[str, dict[str, Any]]:
        """The data, by instance name."""
        targets = self._targets
        running: Running = {}
        offline: set[str] = set()
        told: Mapping[str, GuestInterfaces] = {}
        questions, states, sides = DiskQuestions(), DiskStates(), dict[str, list[Sequence[Side]]]()
        if not self.op.static:
            sides = {target.instance.uuid: disk_questions(target, questions) for target in targets}
            outcomes = await self._outcomes(targets)
            running = {uuid: own(outcome.get(), targets) for uuid, outcome in outcomes.items() if outcome.error is None}
            offline = {uuid for uuid, each in outcomes.items() if isinstance(each.error, NodeOfflineError)}
            told = await guest_interfaces(self.nodes, targets, running)
            states = await questions.ask(self.nodes, {uuid for uuid, each in outcomes.items() if is_silent(each)})
        return {
            target.instance.name: {
                **self._settings(target),
                "run_state": None if self.op.static or target.primary.uuid in offline else run_state(target, running),
                "guest_interfaces": msgspec.to_builtins(told.get(target.instance.name)),
                "disks": disks_data(target, sides.get(target.instance.uuid), states),
            }
            for target in targets
        }

    async def _views(self) -> InstanceViews:
        return await self.config.instance_views([instance.uuid for instance in self._named])

    async def _outcomes(self, targets: Sequence[InstanceView]) -> Mapping[str, Outcome[dict[str, RunningInstance]]]:
        """What the nodes run, by their uuids, or why one does not tell, which is a warning, too.

        Secondary ones are asked as well, for nothing: whether they answer at all, before they are asked for disks.
        """
        nodes = {node.uuid: node for target in targets for node in (target.primary, *target.secondaries)}
        hypervisors: dict[str, set[str]] = {node.name: set() for node in nodes.values()}
        for target in targets:
            hypervisors[target.primary.name].add(target.instance.hypervisor.value)
        outcomes = await side_by_side(
            {node.name: self._outcome(node, hypervisors[node.name]) for node in nodes.values()}
        )
        for node in nodes.values():
            error, is_primary = outcomes[node.name].error, bool(hypervisors[node.name])
            if isinstance(error, NodeOfflineError):
                self._warn_offline(node, targets)
            elif error is not None:
                what = "what runs on" if is_primary else "how disks are on"
                self.warn(f"cannot tell {what} node {node.name}: {error}")
        return {uuid: outcomes[node.name] for uuid, node in nodes.items()}

    async def _outcome(self, node: Node, hypervisors: Set[str]) -> Outcome[dict[str, RunningInstance]]:
        call = AllInstancesInfo(hypervisors=sorted(hypervisors))
        return (await self.nodes.call_many([node], call, LOOK))[node.name]

    def _warn_offline(self, node: Node, targets: Sequence[InstanceView]) -> None:
        for target in targets:
            if target.primary.uuid == node.uuid:
                self.warn(
                    f"Primary node {node.name} is marked offline, returning static information only for instance "
                    f"{target.instance.name}"
                )

    def _settings(self, target: InstanceView) -> dict[str, Any]:
        """What the configuration says; private OS parameters stay out, for results are kept in job files."""
        instance, spec = target.instance, target.spec()
        secondary_groups = [target.groups[node.group] for node in target.secondaries]
        return {
            "name": instance.name,
            "uuid": instance.uuid,
            "serial_no": instance.serial_no,
            "ctime": instance.ctime,
            "mtime": instance.mtime,
            "config_state": instance.admin_state.value,
            "pnode": target.primary.name,
            "pnode_group_uuid": target.group.uuid,
            "pnode_group_name": target.group.name,
            "snodes": [node.name for node in target.secondaries],
            "snodes_group_uuids": [group.uuid for group in secondary_groups],
            "snodes_group_names": [group.name for group in secondary_groups],
            "os": instance.os,
            "os_instance": dict(instance.osparams),
            "os_actual": spec.osparams,
            "nics": [
                [nic.name, nic.uuid, nic.ip, nic.mac, nic.mode, nic.link, nic.vlan, nic.network, nic.netinfo]
                for nic in spec.nics
            ],
            "disk_template": spec.disk_template,
            "hypervisor": instance.hypervisor.value,
            "network_port": instance.network_port,
            "hv_instance": msgspec.to_builtins(without_global(instance.hvparams)),
            "hv_actual": without_global(spec.hvparams),
            "be_instance": msgspec.to_builtins(instance.beparams),
            "be_actual": spec.beparams,
        }


def is_silent(outcome: Outcome[Any]) -> bool:
    """Whether there is no use in asking a node anything more."""
    return isinstance(outcome.error, NodeUnreachableError)


def own(machines: Mapping[str, RunningInstance], targets: Sequence[InstanceView]) -> Mapping[str, RunningInstance]:
    """Those machines of a node that were started for these instances, and not for others of the same names."""
    found = ((each.instance.name, own_machine(machines.get(each.instance.name), each.instance)) for each in targets)
    return {name: seen for name, seen in found if seen is not None}


def run_state(target: InstanceView, running: Running) -> str:
    """ "up", "down", "user down", or "halted" with the reason; "unknown" when the node did not tell."""
    on_node = running.get(target.primary.uuid)
    if on_node is None:
        return "unknown"
    seen = on_node.get(target.instance.name)
    if seen is None:
        return "down"
    if seen.state == HALTED:
        return f"halted ({seen.why})"
    return "user down" if seen.state == SHUT_DOWN_BY_USER else "up"
