"""Instances that stand in the way when a network comes to a node group, or leaves it."""

from collections.abc import Callable

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.network import Network
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.nodegroup import NodeGroup

#: So many instances a warning names.
MAX_NAMED = 20


async def find_users(config: IConfig, group: NodeGroup, uses: Callable[[Nic], bool]) -> list[str]:
    """The instances of a group with NICs of some kind, each as "web1: nic0/192.0.2.1, nic1/192.0.2.2"."""
    members = {node.uuid for node in await config.nodes() if node.group == group.uuid}
    found = []
    for instance in await config.instances():
        nics = [f"nic{index}/{nic.ip or 'no address'}" for index, nic in enumerate(instance.nics) if uses(nic)]
        if instance.primary_node in members and nics:
            found.append(f"{instance.name}: {', '.join(nics)}")
    return found


async def users_of_addresses(config: IConfig, group: NodeGroup, network: Network) -> list[str]:
    """The instances of a group that have addresses of a network by other means, before the group is connected to it."""
    pool = AddressPool(network)
    return await find_users(config, group, lambda nic: nic.ip is not None and pool.holds(nic.ip))


def refuse_users(warn: Callable[[str], None], network: Network, group: NodeGroup, doing: str, users: list[str]) -> None:
    """@raise OpPrereqError: there are some; who they are is told before."""
    if not users:
        return
    more = f" and {len(users) - MAX_NAMED} more" if len(users) > MAX_NAMED else ""
    warn(
        f"IP addresses from network '{network.name}', which is about to {doing} node group '{group.name}', are in use: "
        + ", ".join(users[:MAX_NAMED])
        + more
    )
    raise OpPrereqError(
        "Conflicting IP addresses found; remove/modify the corresponding network interfaces", ECode.STATE
    )
