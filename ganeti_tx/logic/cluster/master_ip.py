"""Taking the cluster's address and giving it up by hand; the hooks around it run on the master itself."""

from typing import ClassVar, TypeVar

from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.master_network import master_network
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpClusterActivateMasterIp, OpClusterDeactivateMasterIp
from ganeti_tx.rpc.calls.master import NodeActivateMasterIp, NodeDeactivateMasterIp

AddressOp = TypeVar("AddressOp", bound=OpClusterActivateMasterIp | OpClusterDeactivateMasterIp)


class MasterAddressUnit(LogicalUnit[AddressOp]):
    """Has the master do something with the cluster's address, as the cluster says."""

    title: ClassVar[str]
    call: ClassVar[type[NodeActivateMasterIp] | type[NodeDeactivateMasterIp]]
    _cluster: Cluster
    _master: Node

    async def check(self) -> None:
        """Who the master is."""
        self._cluster = await self.config.cluster()
        self._master = await self.config.node(self._cluster.master_node)

    def plan(self) -> Plan:
        """One call."""
        return [PlannedStep(self.title, (self._master.name,), (f"address {self._cluster.master_ip}",))]

    async def execute(self) -> None:
        """Make it. @raise RpcError: it failed."""
        external = self._cluster.use_external_mip_script
        call = self.call(master_params=master_network(self._cluster), use_external_mip_script=external)
        async with self.step(self.title):
            await self.nodes.call(self._master, call)
