"""What the getters of instance fields share during one query: the view, live data, filled parameters."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, field

from ganeti_tx.model.base import Params
from ganeti_tx.model.enums import AdminState, AdminStateSource, Hypervisor
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.node import Node
from ganeti_tx.model.params.backend import fill_beparams
from ganeti_tx.model.params.hypervisor import fill_hvparams, without_global
from ganeti_tx.model.params.nic import connection, fill_nicparams
from ganeti_tx.query.language.cell import NO_DATA, UNAVAILABLE, Cell
from ganeti_tx.query.live import Consoles, Running, reason
from ganeti_tx.query.view import View
from ganeti_tx.rpc.calls.instance import RunningInstance

#: `RunningInstance.state` of one that its user shut down.
USER_SHUTDOWN = 1
#: That of one which its hypervisor has stopped after an error.
HALTED = 2
#: What one node runs, by name.
Instances = Mapping[str, RunningInstance]
#: An instance as its primary node sees it, or the cell of all that it would tell.
Seen = RunningInstance | Cell


@define
class InstanceContext:
    """One query over instances."""

    view: View
    running: Running = field(factory=dict)
    consoles: Consoles = field(factory=dict)
    _hv_base: dict[tuple[Hypervisor, str], Params] = field(factory=dict, init=False)
    _answers: dict[str, Instances | Cell] | None = field(default=None, init=False)
    _seen: tuple[Sequence[Instance], Sequence[Seen]] | None = field(default=None, init=False)
    #: The names of all instances that nodes tell of.
    _anywhere: set[str] | None = field(default=None, init=False)

    def beparams(self) -> Callable[[Instance], Params]:
        """From an instance to its filled backend parameters."""
        base = fill_beparams(self.view.cluster)
        return lambda instance: {**base, **instance.beparams}

    def hv_base(self, instance: Instance) -> Params:
        """The hypervisor parameters that an instance of this hypervisor and OS starts from."""
        key = (instance.hypervisor, instance.os)
        base = self._hv_base.get(key)
        if base is None:
            base = self._hv_base[key] = fill_hvparams(self.view.cluster, *key)
        return base

    def hvparams(self, instance: Instance) -> Params:
        """All hypervisor parameters that an instance could set; those of the cluster alone are not shown with it."""
        return without_global({**self.hv_base(instance), **instance.hvparams})

    def nicparams(self) -> Callable[[Instance, Nic], Params]:
        """From a NIC of an instance to its filled parameters."""
        base, config = fill_nicparams(self.view.cluster), self.view.config

        def filled(instance: Instance, nic: Nic) -> Params:
            node = config.nodes.get(instance.primary_node) if nic.network is not None else None
            group = None if node is None else config.nodegroups.get(node.group)
            return {**base, **nic.nicparams, **connection(nic, group)}

        return filled

    def seen(self, instance: Instance) -> Seen:
        """How its primary node sees an instance, or the cell that says why that is not known or not there."""
        return self._look_up([instance])[0]

    def seen_each(self, instances: Sequence[Instance]) -> Sequence[Seen]:
        """The same of several. The fields of a query ask for the same ones, which are looked up once."""
        if self._seen is None or self._seen[0] is not instances:
            self._seen = instances, self._look_up(instances)
        return self._seen[1]

    def _look_up(self, instances: Sequence[Instance]) -> Sequence[Seen]:
        told = self._told()
        return [
            there if isinstance(there := told.get(each.primary_node, {}), tuple) else own_machine(there, each)
            for each in instances
        ]

    def _told(self) -> Mapping[str, Instances | Cell]:
        """What each node runs, by its uuid, or the cell of all that it should run."""
        if self._answers is None:
            self._answers = {uuid: self._told_by(node) for uuid, node in self.view.config.nodes.items()}
        return self._answers

    def _told_by(self, node: Node) -> Instances | Cell:
        outcome = self.running.get(node.name)
        if outcome is None:
            return NO_DATA
        return reason(outcome.error) if outcome.error is not None else outcome.value or {}

    def status(self, instance: Instance, seen: Seen) -> str:
        """One of Ganeti's instance statuses (Ganeti 3.0 configuration table)."""
        if isinstance(seen, tuple):
            return self._not_told(instance)
        if seen.state == USER_SHUTDOWN:
            return "USER_down" if instance.admin_state is AdminState.UP else stopped_status(instance)
        if instance.admin_state is not AdminState.UP:
            return "ERROR_up"
        return "ERROR_halted" if seen.state == HALTED else "running"

    def _not_told(self, instance: Instance) -> str:
        """The status of one that its primary node does not tell of."""
        there = self._told().get(instance.primary_node)
        if isinstance(there, tuple):
            offline = self.view.config.nodes[instance.primary_node].offline
            return "ERROR_nodeoffline" if offline else "ERROR_nodedown"
        if there is not None and self._elsewhere(instance):
            return "ERROR_wrongnode"
        return stopped_status(instance)

    def _elsewhere(self, instance: Instance) -> bool:
        """Whether any node runs it. Hardly ever one does, and then all are looked through."""
        if self._anywhere is None:
            self._anywhere = set().union(*(outcome.value or () for outcome in self.running.values()))
        if instance.name not in self._anywhere:
            return False
        found = (own_machine(outcome.value or {}, instance) for outcome in self.running.values())
        return any(not isinstance(seen, tuple) and seen.state != USER_SHUTDOWN for seen in found)

    def console(self, instance: Instance, seen: Seen) -> Any:
        """How to reach the console, as a cell."""
        if isinstance(seen, tuple):
            return seen
        if seen.state == USER_SHUTDOWN:
            return UNAVAILABLE
        outcome = self.consoles.get(instance.uuid)
        if outcome is None:
            return NO_DATA
        return reason(outcome.error) if outcome.error is not None else (0, outcome.value)


def own_machine(running: Instances, instance: Instance) -> Seen:
    """What a node runs of an instance; another one's machine that has its name is none of it."""
    seen = running.get(instance.name)
    return UNAVAILABLE if seen is None else seen.own(instance) or UNAVAILABLE


def stopped_status(instance: Instance) -> str:
    """The status of an instance that does not run anywhere we know of."""
    if instance.admin_state is AdminState.OFFLINE:
        return "ADMIN_offline"
    if instance.admin_state is AdminState.UP:
        return "ERROR_down"
    return "USER_down" if instance.admin_state_source is AdminStateSource.USER else "ADMIN_down"
