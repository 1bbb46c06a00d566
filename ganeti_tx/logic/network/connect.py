"""Connecting a node group to a network."""

from collections.abc import Mapping

from ganeti_tx.errors import ECode, GenericError, OpPrereqError
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.network.conflicts import refuse_users, users_of_addresses
from ganeti_tx.logic.network.unit import ConnectionUnit
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.opcodes.network import OpNetworkConnect
from ganeti_tx.model.params.nic import fill_nicparams, typed_nicparams

CONNECT = "connect the network to the node group"


class LUNetworkConnect(ConnectionUnit[OpNetworkConnect]):
    """From now on instances of the group can have NICs in the network, which reach it by the given link."""

    hook = Hook(
        "network-connect",
        HookObject.NETWORK,
        pre=HookNodes.OBJECT,
        post=HookNodes.OBJECT,
        asked={
            "GROUP_NETWORK_MODE": "network_mode",
            "GROUP_NETWORK_LINK": "network_link",
            "GROUP_NETWORK_VLAN": "network_vlan",
        },
    )

    async def check(self) -> None:
        """The parameters fit together, and nothing of the group has an address of the network by other means."""
        await super().check()
        if self.op.network_mode is NicMode.POOL:
            allowed = ", ".join(mode for mode in NicMode if mode is not NicMode.POOL)
            raise OpPrereqError(f"network_mode: pool is no way to reach a network; allowed are {allowed}", ECode.INVAL)
        try:
            typed_nicparams(fill_nicparams(await self.config.cluster(), self._params))
        except GenericError as error:
            raise OpPrereqError(str(error), ECode.INVAL) from None
        if self.connected:
            self.warn(f"Network '{self.network.name}' is already mapped to group '{self.group.name}'")
        elif self.op.conflicts_check:
            users = await users_of_addresses(self.config, self.group, self.network)
            refuse_users(self.warn, self.network, self.group, "connect to", users)
            await self._refuse_overlap()

    async def _refuse_overlap(self) -> None:
        """Link-local ranges may overlap: with those for instance communication each instance has a link of its own.

        @raise OpPrereqError: a network of the group that is reached in the same way has addresses of this one.
        """
        cluster, own = await self.config.cluster(), AddressPool(self.network)
        way = fill_nicparams(cluster, self._params)
        for other in await self.config.networks():
            held = self.group.networks.get(other.uuid)
            if held is None or fill_nicparams(cluster, held) != way:
                continue
            if own.range().overlaps(AddressPool(other).range()) and not own.range().is_link_local:
                raise OpPrereqError(
                    f"Network '{self.network.name}' ({own.range()}) overlaps '{other.name}' ({other.network}), to which "
                    f"node group '{self.group.name}' is connected by the same mode, link and VLAN; two instances could "
                    "get one address",
                    ECode.STATE,
                )

    @property
    def _params(self) -> dict[str, object]:
        return {
            "mode": self.op.network_mode.value,
            "link": self.op.network_link,
            "vlan": self.op.network_vlan,
        }

    async def hook_values(self) -> Mapping[str, object]:
        """The connection that was asked for."""
        return {"GROUP_NAME": self.group.name, **await super().hook_values()}

    def plan(self) -> Plan:
        """One change, unless it is so already."""
        touched = (f"network {self.network.name}", f"node group {self.group.name}")
        return [] if self.connected else [PlannedStep(CONNECT, (), touched)]

    async def execute(self) -> None:
        """Connect it."""
        if not self.connected:
            async with self.step(CONNECT):
                await self.config.connect_network(self.network.uuid, self.group.uuid, self._params)
