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
    _elsewhere: dict[str, set[str]] | None = field(default=None, init=False)

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

    def seen(self, instance: Instance) -> RunningInstance | Cell:
        """The instance as its primary node sees it, or the cell that says why that is not known or not there."""
        there = self._told().get(instance.primary_node, UNAVAILABLE)
        return there if isinstance(there, tuple) else there.get(instance.name, UNAVAILABLE)

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

    def status(self, instance: Instance) -> str:
        """One of Ganeti's instance statuses (Ganeti 3.0 configuration table)."""
        there = self._told().get(instance.primary_node)
        if there is None:
            return stopped_status(instance)
        if isinstance(there, tuple):
            offline = self.view.config.nodes[instance.primary_node].offline
            return "ERROR_nodeoffline" if offline else "ERROR_nodedown"
        info = there.get(instance.name)
        if info is None:
            elsewhere = self.elsewhere().get(instance.name)
            return "ERROR_wrongnode" if elsewhere else stopped_status(instance)
        if info.state == USER_SHUTDOWN:
            return "USER_down" if instance.admin_state is AdminState.UP else stopped_status(instance)
        return "running" if instance.admin_state is AdminState.UP else "ERROR_up"

    def elsewhere(self) -> Mapping[str, set[str]]:
        """The names of the nodes on which an instance runs, by its name."""
        if self._elsewhere is None:
            self._elsewhere = {}
            for node, outcome in self.running.items():
                for name, info in (outcome.value or {}).items():
                    if info.state != USER_SHUTDOWN:
                        self._elsewhere.setdefault(name, set()).add(node)
        return self._elsewhere

    def console(self, instance: Instance) -> Any:
        """How to reach the console, as a cell."""
        seen = self.seen(instance)
        if isinstance(seen, tuple):
            return seen
        if seen.state == USER_SHUTDOWN:
            return UNAVAILABLE
        outcome = self.consoles.get(instance.uuid)
        if outcome is None:
            return NO_DATA
        return reason(outcome.error) if outcome.error is not None else (0, outcome.value)


def stopped_status(instance: Instance) -> str:
    """The status of an instance that does not run anywhere we know of."""
    if instance.admin_state is AdminState.OFFLINE:
        return "ADMIN_offline"
    if instance.admin_state is AdminState.UP:
        return "ERROR_down"
    return "USER_down" if instance.admin_state_source is AdminStateSource.USER else "ADMIN_down"
