"""The network by which instances talk to their nodes: made when it is first named, and connected to all node groups."""

from collections.abc import Sequence

from attrs import frozen

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.logic.network.conflicts import refuse_users, users_of_addresses
from ganeti_tx.logic.network.settings import check_free
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.undos import in_config
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.instance_communication import LINK, MAC_PREFIX, MODE, NODE_ADDRESS, RANGE, RANGE6
from ganeti_tx.model.network import Network
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes import OpClusterSetParams
from ganeti_tx.model.opcodes.network import OpNetworkConnect

MAKE, CONNECT = "make the network of instance communication", "submit the jobs that connect it to node groups"


@frozen
class Communication:
    """What is to be done for it. @ivar is_new: whether it is to be made. @ivar groups: those that do not have it."""

    network: Network
    is_new: bool
    groups: Sequence[NodeGroup]

    def first_steps(self) -> Plan:
        """Before the settings name it."""
        return [PlannedStep(MAKE, (), (f"network {self.network.name}",))] if self.is_new else []

    def last_steps(self) -> Plan:
        """Afterwards."""
        touched = tuple(f"node group {group.name}" for group in self.groups)
        return [PlannedStep(CONNECT, (), touched)] if self.groups else []

    async def make(self, unit: LogicalUnit[OpClusterSetParams]) -> None:
        """Have it in the configuration; it goes again if the settings are not changed after all."""
        if not self.is_new:
            return
        undo = in_config(f"remove network {self.network.name}", IConfig.remove_network, self.network.uuid)
        async with unit.step(MAKE, undo):
            await unit.config.add_network(self.network)

    async def connect(self, unit: LogicalUnit[OpClusterSetParams]) -> dict[str, object] | None:
        """Submit the jobs that connect it, if it is not connected everywhere; the opcode's result."""
        if not self.groups:
            return None
        jobs = [
            [
                OpNetworkConnect(
                    group_name=group.name,
                    network_name=self.network.name,
                    network_mode=MODE,
                    network_link=LINK,
                    priority=unit.op.priority,
                )
            ]
            for group in self.groups
        ]
        async with unit.step(CONNECT):
            return {"jobs": await unit.context.submit_jobs(jobs)}


async def find(unit: LogicalUnit[OpClusterSetParams], name: str) -> Communication:
    """What is to be done for a network of this name; warn of one that is there and is another kind of network.

    @raise OpPrereqError: no network can have the name; or one of the jobs would not connect it, after all else was done.
    """
    found = await _found(unit, name)
    for group in found.groups:
        users = await users_of_addresses(unit.config, group, found.network)
        refuse_users(unit.warn, found.network, group, "connect to", users)
    return found


async def _found(unit: LogicalUnit[OpClusterSetParams], name: str) -> Communication:
    groups = await unit.config.groups()
    held = next((each for each in await unit.config.networks() if each.name == name), None)
    if held is None:
        await check_free(unit.config, name)
        return Communication(await new_network(unit.config, name), is_new=True, groups=groups)
    if (held.network, held.network6, held.mac_prefix) != (RANGE, RANGE6, MAC_PREFIX):
        unit.warn(
            f"network {name} has the ranges {held.network} and {held.network6 or 'none'} and the MAC prefix"
            f" {held.mac_prefix or 'none'}; usual for instance communication are {RANGE}, {RANGE6} and {MAC_PREFIX}"
        )
    return Communication(held, is_new=False, groups=[group for group in groups if held.uuid not in group.networks])


async def new_network(config: IConfig, name: str) -> Network:
    """As Ganeti makes it; first and last address are nobody's, and one is the nodes' own."""
    network = Network(
        serial_no=1, uuid=await config.generate_uuid(), name=name, network=RANGE, network6=RANGE6, mac_prefix=MAC_PREFIX
    )
    return AddressPool(AddressPool(network).with_own_addresses()).reserving(NODE_ADDRESS)
