"""What the getters of instance fields share during one query: the view, live data, filled parameters."""

from collections.abc import Callable, Mapping
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
#: What one node runs, by name.
Instances = Mapping[str, RunningInstance]


@define
class InstanceContext:
    """One query over instances."""

    view: View
    running: Running = field(factory=dict)
    consoles: Consoles = field(factory=dict)
    _hv_base: dict[tuple[Hypervisor, str], Params] = field(factory=dict, init=False)
    _answers: dict[str, Instances | Cell] | None = field(default=None, init=False)
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

    def seen(self) -> Callable[[Instance], RunningInstance | Cell]:
        """From an instance to how its primary node sees it, or to the cell that says why that is not known or not there."""
        told = self._told()

        def of(instance: Instance) -> RunningInstance | Cell:
            there = told.get(instance.primary_node)
            if there is None:
                return UNAVAILABLE
            return there if isinstance(there, tuple) else there.get(instance.name, UNAVAILABLE)

        return of

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

    def status(self) -> Callable[[Instance], str]:
        """From an instance to one of Ganeti's instance statuses (Ganeti 3.0 configuration table)."""
        told, up = self._told(), AdminState.UP

        def of(instance: Instance) -> str:
            there = told.get(instance.primary_node)
            if there is None or isinstance(there, tuple) or (info := there.get(instance.name)) is None:
                return self._not_told(instance, there)
            if info.state == USER_SHUTDOWN:
                return "USER_down" if instance.admin_state is up else stopped_status(instance)
            return "running" if instance.admin_state is up else "ERROR_up"

        return of

    def _not_told(self, instance: Instance, there: Instances | Cell | None) -> str:
        """The status of one that its primary node does not tell of."""
        if isinstance(there, tuple):
            offline = self.view.config.nodes[instance.primary_node].offline
            return "ERROR_nodeoffline" if offline else "ERROR_nodedown"
        if there is not None and self._elsewhere(instance.name):
            return "ERROR_wrongnode"
        return stopped_status(instance)

    def _elsewhere(self, name: str) -> bool:
        """Whether any node runs an instance of this name. Hardly ever one does, and then all are looked through."""
        if self._anywhere is None:
            self._anywhere = set().union(*(outcome.value or () for outcome in self.running.values()))
        return name in self._anywhere and any(
            name in answer and answer[name].state != USER_SHUTDOWN
            for answer in (outcome.value or {} for outcome in self.running.values())
        )

    def console(self) -> Callable[[Instance], Any]:
        """From an instance to how to reach its console, as a cell."""
        seen_of = self.seen()

        def of(instance: Instance) -> Any:
            seen = seen_of(instance)
            if isinstance(seen, tuple):
                return seen
            if seen.state == USER_SHUTDOWN:
                return UNAVAILABLE
            outcome = self.consoles.get(instance.uuid)
            if outcome is None:
                return NO_DATA
            return reason(outcome.error) if outcome.error is not None else (0, outcome.value)

        return of


def stopped_status(instance: Instance) -> str:
    """The status of an instance that does not run anywhere we know of."""
    if instance.admin_state is AdminState.OFFLINE:
        return "ADMIN_offline"
    if instance.admin_state is AdminState.UP:
        return "ERROR_down"
    return "USER_down" if instance.admin_state_source is AdminStateSource.USER else "ADMIN_down"
