"""What follows from a change of instances and disks: ports and addresses taken or given back, and nothing used twice."""

from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from msgspec.structs import replace

from ganeti_tx.config.claims import ADDRESS, PORT, Claim, claims_of, clashes
from ganeti_tx.config.edit import checked, with_objects
from ganeti_tx.config.verify_instances import disk_faults, instance_faults
from ganeti_tx.errors import AddressPoolError, ConfigurationError
from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.base import touched
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.network import Network
from ganeti_tx.model.own_ports import FIRST_PORT, LAST_PORT


def settled(
    before: ConfigData, after: ConfigData, now: float, *, instances: Collection[str], disks: Collection[str]
) -> ConfigData:
    """The configuration after a change of some instances and disks, with the ports and addresses accounted for.

    @raise ConfigurationError: it would be inconsistent.
    """
    had, has = claims_of(before, instances, disks), claims_of(after, instances, disks)
    gained, lost = set(has - had), had.keys() - has.keys()
    after = with_addresses(with_ports(after, gained, lost, now), gained, lost)

    def faults(config: ConfigData) -> list[str]:
        return [
            *(fault for uuid in instances for fault in instance_faults(config, uuid)),
            *(fault for uuid in instances for fault in unconnected(config, uuid)),
            *(fault for uuid in disks for fault in disk_faults(config, uuid)),
            *clashes(config, gained),
        ]

    return checked(before, after, faults)


def unconnected(config: ConfigData, uuid: str) -> Iterator[str]:
    """The networks of an instance's NICs that its node group does not have."""
    instance = config.instances.get(uuid)
    node = None if instance is None else config.nodes.get(instance.primary_node)
    group = None if node is None else config.nodegroups.get(node.group)
    if instance is None or group is None:
        return
    for nic in instance.nics:
        network = config.networks.get(nic.network or "")
        if network is not None and network.uuid not in group.networks:
            yield f"instance {instance.name}: network {network.name} is not connected to node group {group.name}"


def with_ports(config: ConfigData, gained: Iterable[Claim], lost: Iterable[Claim], now: float) -> ConfigData:
    """The configuration with ports taken out of the pool and put back into it."""
    taken, given = pool_ports(gained), pool_ports(lost)
    cluster = config.cluster
    highest: int = max([cluster.highest_used_port, FIRST_PORT - 1, *taken])
    skipped = range(max(cluster.highest_used_port + 1, FIRST_PORT), highest + 1)
    pool = tuple(sorted({*cluster.tcpudp_port_pool, *given, *skipped} - taken))
    if pool == cluster.tcpudp_port_pool and highest == cluster.highest_used_port:
        return config
    return replace(config, cluster=touched(replace(cluster, tcpudp_port_pool=pool, highest_used_port=highest), now))


def pool_ports(claims: Iterable[Claim]) -> set[int]:
    """The ports among claims that the cluster gives out; others are the administrator's own."""
    ports = {int(claim.value) for claim in claims if claim.kind == PORT}
    return {port for port in ports if FIRST_PORT <= port <= LAST_PORT}


def free_port(cluster: Cluster, used: Collection[int]) -> int:
    """A port that is neither in use nor among the given ones. @raise ConfigurationError: there is none."""
    for port in free_ports(cluster, used):
        return port
    raise ConfigurationError(f"no free TCP port between {FIRST_PORT} and {LAST_PORT}")


def free_ports(cluster: Cluster, used: Collection[int]) -> Iterator[int]:
    """All such ports, those that were in use before first."""
    unused = range(max(cluster.highest_used_port + 1, FIRST_PORT), LAST_PORT + 1)
    return (port for port in chain(cluster.tcpudp_port_pool, unused) if port not in used)


def with_addresses(config: ConfigData, gained: Iterable[Claim], lost: Iterable[Claim]) -> ConfigData:
    """The configuration with addresses of networks marked taken and free; that is no change of the network itself.

    @raise ConfigurationError: one is outside its network, or taken.
    """
    changed: dict[str, Network] = {}
    for claim in (*lost, *gained):
        network = changed.get(claim.scope) or config.networks.get(claim.scope)
        if claim.kind != ADDRESS or network is None:
            continue
        pool = AddressPool(network)
        address = str(claim.value)
        try:
            changed[claim.scope] = pool.taking(address) if claim in gained else pool.releasing(address)
        except AddressPoolError as error:
            raise ConfigurationError(str(error)) from None
    if not changed:
        return config
    return with_objects(config, "networks", changed.values())
