"""Removing a network."""

from collections.abc import Mapping, Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.network.unit import on_network
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.network import Network
from ganeti_tx.model.opcodes.network import OpNetworkRemove

REMOVE = "remove the network from the configuration"
#: So many instances an error names.
MAX_NAMED = 5


class LUNetworkRemove(LogicalUnit[OpNetworkRemove]):
    """A network that no group is connected to and no instance uses."""

    hook = Hook("network-remove", HookObject.NETWORK, pre=HookNodes.MASTER, post=HookNodes.MASTER)

    _network: Network

    async def expand_names(self) -> None:
        """Which network."""
        self._network = await self.config.network(self.op.network_name)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The network."""
        return [on_network(self._network.uuid, Mode.EXCLUSIVE)] if level is Level.NETWORK else ()

    async def check(self) -> None:
        """Nothing needs it."""
        self._network = await self.config.network(self._network.uuid)
        uuid, name = self._network.uuid, self._network.name
        groups = sorted(group.name for group in await self.config.groups() if uuid in group.networks)
        if groups:
            self.warn(f"Network '{name}' is connected to the following node groups: {', '.join(groups)}")
            raise OpPrereqError("Network still connected", ECode.STATE)
        instances = await self.config.instances()
        users = sorted(each.name for each in instances if any(nic.network == uuid for nic in each.nics))
        if users:
            raise OpPrereqError(
                f"network {name} is used by instances: {', '.join(users[:MAX_NAMED])}"
                + (f" and {len(users) - MAX_NAMED} more" if len(users) > MAX_NAMED else ""),
                ECode.STATE,
            )

    async def hook_values(self) -> Mapping[str, object]:
        """Its name."""
        return {"NETWORK_NAME": self._network.name}

    def plan(self) -> Plan:
        """One change."""
        return [PlannedStep(REMOVE, (), (f"network {self._network.name}",))]

    async def execute(self) -> None:
        """Remove it."""
        async with self.step(REMOVE):
            await self.config.remove_network(self._network.uuid)
