"""Giving a network another name."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.network.settings import check_free
from ganeti_tx.logic.network.unit import on_network
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.network import Network
from ganeti_tx.model.opcodes.network import OpNetworkRename

RENAME = "rename the network"


class LUNetworkRename(LogicalUnit[OpNetworkRename]):
    """Everything else knows it by its uuid."""

    hook = Hook("network-rename", HookObject.NETWORK, pre=HookNodes.MASTER, post=HookNodes.MASTER)

    _network: Network

    async def expand_names(self) -> None:
        """Which network."""
        self._network = await self.config.network(self.op.network_name)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The network."""
        return [on_network(self._network.uuid, Mode.EXCLUSIVE)] if level is Level.NETWORK else ()

    async def check(self) -> None:
        """The new name is free, or its own in other letters."""
        self._network = await self.config.network(self._network.uuid)
        if self.op.new_name.lower() != self._network.name.lower():
            await check_free(self.config, self.op.new_name)

    async def hook_values(self) -> Mapping[str, object]:
        """Both names."""
        return {"OLD_NAME": self._network.name, "NEW_NAME": self.op.new_name}

    def plan(self) -> Plan:
        """One change."""
        return [PlannedStep(RENAME, (), (f"network {self._network.name}",))]

    async def execute(self) -> str:
        """Gives the new name."""
        async with self.step(RENAME):
            await self.config.update_network(replace(self._network, name=self.op.new_name))
        return self.op.new_name
