"""The switch of Open vSwitch that a node gets when it is added, or when it is said that it is to have one."""

from typing import Any

from attrs import frozen

from ganeti_tx.errors import ECode, OpExecError
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import ask
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.base import Params
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.kinds import DEFAULT, fill
from ganeti_tx.model.params.node import NodeParams, typed_ndparams
from ganeti_tx.rpc.calls.open_vswitch import CanConfigureOvs, NodeConfigureOvs
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError

MAKE = "make its switch"
#: The parameters that say so.
PARAMETERS = frozenset({"ovs", "ovs_name", "ovs_link"})


@frozen
class OwnSwitch:
    """The switch, and the device of the node that is in it, if any."""

    name: str
    device: str

    async def check(self, nodes: INodeRpc, target: Node | NodeAddress) -> None:
        """@raise OpPrereqError: environment_error, the node could not have it, and why."""
        await ask(nodes, target, CanConfigureOvs(ovs_name=self.name, ovs_link=self.device), ECode.ENVIRON)

    def steps(self, node: str) -> Plan:
        """The last ones, when the rest has been done."""
        return [PlannedStep(MAKE, (node,), (f"node {node}",))]

    async def make(self, unit: LogicalUnit[Any], node: Node, done: str, again: str) -> None:
        """@raise OpExecError: it was not made, though something else was done; `again` would make it."""
        try:
            async with unit.step(MAKE):
                await unit.nodes.call(node, NodeConfigureOvs(ovs_name=self.name, ovs_link=self.device))
        except RpcError as error:
            raise OpExecError(
                f"node {node.name} was {done}, but does not have its switch {self.name}: {error};"
                f" when that is mended, '{again}' makes it"
            ) from None


def wanted_switch(cluster: Cluster, group: NodeGroup, own: Params) -> OwnSwitch | None:
    """That of a node with these parameters of its own, in this group; None when it is to have none."""
    given = {name: value for name, value in own.items() if value != DEFAULT}
    params = typed_ndparams(fill(NodeParams, cluster.ndparams, group.ndparams, given))
    return OwnSwitch(params.ovs_name or str(NodeParams().ovs_name), params.ovs_link or "") if params.ovs else None
