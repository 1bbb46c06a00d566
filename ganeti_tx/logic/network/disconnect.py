"""Disconnecting a node group from a network."""

from collections.abc import Mapping

from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.network.conflicts import find_users, refuse_users
from ganeti_tx.logic.network.unit import ConnectionUnit
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.opcodes.network import OpNetworkDisconnect

DISCONNECT = "disconnect the network from the node group"


class LUNetworkDisconnect(ConnectionUnit[OpNetworkDisconnect]):
    """From now on no instance of the group can have a NIC in the network; today none has."""

    hook = Hook("network-disconnect", HookObject.NETWORK, pre=HookNodes.OBJECT, post=HookNodes.OBJECT)

    _values: Mapping[str, object]

    async def check(self) -> None:
        """No instance of the group uses it."""
        await super().check()
        self._values = await self.connection_values()
        if not self.connected:
            self.warn(f"Network '{self.network.name}' is not mapped to group '{self.group.name}'")
            return
        users = await find_users(self.config, self.group, lambda nic: nic.network == self.network.uuid)
        refuse_users(self.warn, self.network, self.group, "disconnect from", users)

    async def hook_values(self) -> Mapping[str, object]:
        """The connection that there was."""
        return self._values

    def plan(self) -> Plan:
        """One change, unless it is so already."""
        touched = (f"network {self.network.name}", f"node group {self.group.name}")
        return [PlannedStep(DISCONNECT, (), touched)] if self.connected else []

    async def execute(self) -> None:
        """Disconnect it."""
        if self.connected:
            async with self.step(DISCONNECT):
                await self.config.disconnect_network(self.network.uuid, self.group.uuid)
