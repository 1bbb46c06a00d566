"""Making a network."""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network

from ganeti_tx.errors import ECode, OpPrereqError, TagError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.network.hook_values import own_values
from ganeti_tx.logic.network.settings import (
    as_text,
    check_free,
    check_inside,
    check_prefix,
    check_range,
    check_v6,
    of_pool,
)
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_all
from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.network import Network
from ganeti_tx.model.opcodes.network import OpNetworkAdd
from ganeti_tx.model.tags import check_tags

ADD = "add the network to the configuration"


class LUNetworkAdd(LogicalUnit[OpNetworkAdd]):
    """A pool of addresses, of which those of the cluster, of its nodes and of others named are kept from instances."""

    hook = Hook("network-add", HookObject.NETWORK, pre=HookNodes.MASTER, post=HookNodes.MASTER)

    _network: Network

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The nodes, whose addresses must stay as they are; nobody knows the network yet."""
        return [on_all(Level.NODE)] if level is Level.NODE and self.op.conflicts_check else ()

    async def check(self) -> None:
        """The name is free, the settings fit together, every address named is one of the network's."""
        await check_free(self.config, self.op.network_name)
        check_range(IPv4Network, self.op.network)
        check_v6(self.op.network6, self.op.gateway6)
        network = Network(
            serial_no=1,
            uuid=await self.config.generate_uuid(),
            name=self.op.network_name,
            network=str(self.op.network),
            gateway=as_text(self.op.gateway),
            network6=as_text(self.op.network6),
            gateway6=as_text(self.op.gateway6),
            mac_prefix=check_prefix(self.op.mac_prefix),
            tags=self._tags(),
        )
        with of_pool(network):
            pool = AddressPool(network)
            if network.gateway is not None:
                check_inside(pool, network.gateway, "gateway")
            network = pool.with_own_addresses()
        for address in self.op.add_reserved_ips or ():
            check_inside(AddressPool(network), address, "reserved address")
            network = AddressPool(network).reserving(address)
        self._network = await self._without_conflicts(network) if self.op.conflicts_check else network

    def _tags(self) -> tuple[str, ...]:
        try:
            return check_tags(self.op.tags)
        except TagError as error:
            raise OpPrereqError(str(error), ECode.INVAL) from None

    async def _without_conflicts(self, network: Network) -> Network:
        """With the addresses of the nodes and of the master kept from instances."""
        for node in await self.config.nodes():
            for address in dict.fromkeys((node.primary_ip, node.secondary_ip)):
                if AddressPool(network).holds(address):
                    self.info(f"- INFO: Reserved IP address of node '{node.name}' ({address})")
                    network = AddressPool(network).reserving(address)
        master = (await self.config.cluster()).master_ip
        if AddressPool(network).holds(master):
            self.info(f"- INFO: Reserved cluster master IP address ({master})")
            network = AddressPool(network).reserving(master)
        return network

    async def hook_values(self) -> Mapping[str, object]:
        """The network as it is to be."""
        return own_values(self._network)

    def plan(self) -> Plan:
        """One change."""
        return [PlannedStep(ADD, (), (f"network {self.op.network_name}",))]

    async def execute(self) -> None:
        """Add it."""
        async with self.step(ADD):
            await self.config.add_network(self._network)
