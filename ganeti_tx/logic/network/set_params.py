"""Changing the settings of a network."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.network.hook_values import own_values
from ganeti_tx.logic.network.settings import as_text, check_inside, check_prefix, check_v6, lies_in
from ganeti_tx.logic.network.unit import on_network
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.network import Network
from ganeti_tx.model.opcodes.network import OpNetworkSetParams

CHANGE = "change the network"
SETTINGS = ("gateway", "network6", "gateway6", "mac_prefix", "add_reserved_ips", "remove_reserved_ips")


class LUNetworkSetParams(LogicalUnit[OpNetworkSetParams]):
    """Gateway, IPv6 range, MAC prefix, and which addresses are kept from instances."""

    hook = Hook("network-modify", HookObject.NETWORK, pre=HookNodes.MASTER, post=HookNodes.MASTER)

    _held: Network
    _wanted: Network

    async def expand_names(self) -> None:
        """Which network."""
        self._held = await self.config.network(self.op.network_name)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The network."""
        return [on_network(self._held.uuid, Mode.EXCLUSIVE)] if level is Level.NETWORK else ()

    async def check(self) -> None:
        """Work out how it is to be; an address that need not or cannot be marked is warned of, and the rest is done."""
        if all(getattr(self.op, name) is None for name in SETTINGS):
            raise OpPrereqError(f"nothing to change: give at least one of {', '.join(SETTINGS)}", ECode.INVAL)
        self._held = await self.config.network(self._held.uuid)
        wanted = self._with_gateway(self._with_v6(self._held))
        if self.op.mac_prefix is not None:
            wanted = replace(wanted, mac_prefix=check_prefix(self.op.mac_prefix))
        for address in self.op.add_reserved_ips or ():
            wanted = self._with_reserved(wanted, address)
        for address in self.op.remove_reserved_ips or ():
            wanted = self._without_reserved(wanted, address)
        self._wanted = wanted

    def _with_v6(self, network: Network) -> Network:
        """A range that the gateway of before is not in is taken: that may be changed next."""
        network6 = as_text(self.op.network6) or network.network6
        check_v6(network6, self.op.gateway6)
        if self.op.network6 is not None and self.op.gateway6 is None and network.gateway6 is not None:
            check_v6(network6, None)
            if not lies_in(network.gateway6, self.op.network6):
                self.warn(f"{self.op.network6} does not contain the gateway {network.gateway6}; give --gateway6, too")
        return replace(network, network6=network6, gateway6=as_text(self.op.gateway6) or network.gateway6)

    def _with_gateway(self, network: Network) -> Network:
        gateway = as_text(self.op.gateway)
        if gateway is None:
            return network
        if gateway == network.gateway:
            self.warn(f"Gateway is already {gateway}")
            return network
        pool = AddressPool(network)
        check_inside(pool, gateway, "gateway")
        if pool.is_taken(gateway):
            raise OpPrereqError(f"Gateway IP address '{gateway}' is already reserved", ECode.STATE)
        if network.gateway is not None:
            network = pool.unreserving(network.gateway)
        return replace(AddressPool(network).reserving(gateway), gateway=gateway)

    def _with_reserved(self, network: Network, address: str) -> Network:
        pool = AddressPool(network)
        why = None
        if not pool.holds(address):
            why = f"{pool.range()} does not contain {address}"
        elif pool.is_external(address):
            why = f"IP {address} is already externally reserved"
        if why is None:
            return pool.reserving(address)
        self.warn(f"Cannot reserve IP address {address}: {why}")
        return network

    def _without_reserved(self, network: Network, address: str) -> Network:
        pool = AddressPool(network)
        why = f"Cannot release IP address {address}: "
        if address == network.gateway:
            why = "Cannot unreserve Gateway's IP"
        elif not pool.holds(address):
            why += f"{pool.range()} does not contain {address}"
        elif not pool.is_external(address):
            why += f"IP {address} is not externally reserved"
        elif pool.is_end(address):
            why += "no host can have the first or the last address of a network"
        else:
            return pool.unreserving(address)
        self.warn(why)
        return network

    async def hook_values(self) -> Mapping[str, object]:
        """The network as it is to be."""
        return own_values(self._wanted)

    def plan(self) -> Plan:
        """One change, if there is any."""
        if self._wanted == self._held:
            return []
        return [PlannedStep(CHANGE, (), (f"network {self._held.name}",))]

    async def execute(self) -> None:
        """Change it."""
        if self._wanted != self._held:
            async with self.step(CHANGE):
                await self.config.update_network(self._wanted)
