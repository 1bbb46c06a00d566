"""What only one object of a configuration may have: names, uuids, MAC addresses, ports, addresses, minors, volumes."""

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import chain
from typing import NamedTuple

from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_places import places_of_disks
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.network import Network
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup


class Claim(NamedTuple):
    """One thing that is claimed: of its kind, in its scope (a network's or node's uuid), nobody else may have it."""

    kind: str
    value: str | int
    scope: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.value}" + (f" of {self.scope}" if self.scope else "")


PORT = "TCP port"
MAC = "MAC address"
UUID = "uuid"
ADDRESS = "address"
MINOR = "DRBD minor"
STORAGE = "storage"


def node_claims(node: Node) -> Iterator[Claim]:
    """What a node claims; its two addresses may be the same one."""
    yield Claim("node name", node.name.lower())
    yield Claim(UUID, node.uuid)
    for address in {node.primary_ip, node.secondary_ip}:
        yield Claim("node address", address)


def group_claims(group: NodeGroup) -> Iterator[Claim]:
    """What a node group claims."""
    yield Claim("node group name", group.name.lower())
    yield Claim(UUID, group.uuid)


def network_claims(network: Network) -> Iterator[Claim]:
    """What a network claims."""
    yield Claim("network name", network.name.lower())
    yield Claim(UUID, network.uuid)


def instance_claims(instance: Instance) -> Iterator[Claim]:
    """What an instance claims, its NICs and disks included."""
    yield Claim(UUID, instance.uuid)
    if instance.name:
        yield Claim("instance name", instance.name.lower())
    if instance.network_port is not None:
        yield Claim(PORT, instance.network_port)
    for nic in instance.nics:
        yield Claim(UUID, nic.uuid)
        yield Claim(MAC, nic.mac.lower())
        if nic.ip is not None and nic.network is not None:
            yield Claim(ADDRESS, nic.ip, nic.network)
    for disk in instance.disks:
        yield Claim("disk", disk)


def disk_claims(disk: Disk) -> Iterator[Claim]:
    """What a disk claims, those it is made of included."""
    yield Claim(UUID, disk.uuid)
    for port in disk.ports:
        yield Claim(PORT, port)
    for node, minor in disk.minors:
        yield Claim(MINOR, minor, node)
    for part in disk.children or (disk,):
        if part.template.unique is not None and part.logical_id:
            name = "/".join(map(str, part.logical_id))
            for holder in disk.nodes or ("",):
                yield Claim(part.template.unique, name, holder)
    for child in disk.children:
        if child.uuid:
            yield Claim(UUID, child.uuid)


def is_changed(before: ConfigData, after: ConfigData, uuid: str) -> bool:
    """Whether a disk is another, or came, or went."""
    return before.disks.get(uuid) is not after.disks.get(uuid)


def given_up(before: ConfigData, after: ConfigData) -> set[Claim]:
    """The minors and ports that disks had, and none has any more."""
    if before.disks is after.disks:
        return set()
    changed = {uuid for uuid in before.disks.keys() | after.disks.keys() if is_changed(before, after, uuid)}
    lost = claims_of(before, disks=changed).keys() - claims_of(after, disks=changed).keys()
    return {claim for claim in lost if claim.kind in (MINOR, PORT)}


def all_claims(config: ConfigData) -> Iterator[tuple[str, Iterator[Claim]]]:
    """Each object, as people know it, with what it claims."""
    yield "the cluster", iter([Claim(UUID, config.cluster.uuid)])
    for node in config.nodes.values():
        yield f"node {node.name}", node_claims(node)
    for group in config.nodegroups.values():
        yield f"node group {group.name}", group_claims(group)
    for network in config.networks.values():
        yield f"network {network.name}", network_claims(network)
    for instance in config.instances.values():
        yield f"instance {instance.name or instance.uuid}", instance_claims(instance)
    for disk in config.disks.values():
        yield called(disk.uuid), disk_claims(disk)


def clashes(config: ConfigData, among: Collection[Claim] | None = None) -> list[str]:
    """Whatever is claimed twice, a line each; `among` limits the search to some claims."""
    if among is not None and not among:
        return []
    holders: dict[Claim, list[str]] = {}
    for holder, claims in all_claims(config):
        for claim in claims:
            if among is None or claim in among:
                holders.setdefault(claim, []).append(holder)
    twice = {claim: used for claim, used in holders.items() if len(used) > 1}
    disks = places_of_disks(config.instances.values()) if twice else {}
    places = {called(uuid): place for uuid, place in disks.items()}
    return [
        f"{claim} is used by {' and by '.join(places.get(each, each) for each in used)}; give one of them another"
        for claim, used in twice.items()
    ]


def called(uuid: str) -> str:
    """What a disk is called by itself."""
    return f"disk {uuid}"


def claims_of(config: ConfigData, instances: Collection[str] = (), disks: Collection[str] = ()) -> Counter[Claim]:
    """What some instances and disks of a configuration claim, and how often; those that are not there claim nothing."""
    return Counter(
        chain(
            *(instance_claims(config.instances[uuid]) for uuid in instances if uuid in config.instances),
            *(disk_claims(config.disks[uuid]) for uuid in disks if uuid in config.disks),
        )
    )


def taken(config: ConfigData, kind: str, scope: str = "") -> set[str | int]:
    """Everything of one kind that is claimed in a scope."""
    claims = chain.from_iterable(held for _, held in all_claims(config))
    return {claim.value for claim in claims if claim.kind == kind and claim.scope == scope}
