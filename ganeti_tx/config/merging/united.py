"""The configuration of a cluster that has taken another one in, and what stands in its way."""

from collections.abc import Iterator

from attrs import frozen
from msgspec.structs import replace

from ganeti_tx.config.accounts import with_ports
from ganeti_tx.config.claims import Claim, all_claims, claims_of
from ganeti_tx.config.edit import with_objects
from ganeti_tx.config.merging.choices import Choices, Conflict, SameGroup
from ganeti_tx.config.merging.groups import extended, group_obstacles, members, placed
from ganeti_tx.config.merging.parameters import differences
from ganeti_tx.config.merging.ports import port_obstacles, with_free_ports
from ganeti_tx.config.verify import verify
from ganeti_tx.errors import GanetiError
from ganeti_tx.model.base import touched
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.nodegroup import NodeGroup


@frozen
class Judgement:
    """Of two clusters: why they cannot be merged, and in what they differ all the same."""

    obstacles: list[str]
    warnings: list[str]


def judged(ours: ConfigData, theirs: ConfigData, chosen: Choices, now: float) -> Judgement:
    """All that is wrong, at once."""
    unlike = differences(ours, theirs, merged_groups=chosen.groups is SameGroup.MERGE)
    strict = chosen.conflicts is Conflict.STRICT
    obstacles = [
        *identity_obstacles(ours, theirs),
        *address_obstacles(ours, theirs),
        *group_obstacles(ours, theirs, chosen.groups),
        *in_both(ours, placed(ours, theirs, chosen.groups)),
        *port_obstacles(ours, theirs),
        *(f"parameters differ, {line} (--parameter-conflicts={Conflict.WARN} goes on)" for line in unlike if strict),
    ]
    if not obstacles:
        obstacles = new_faults(ours, theirs, chosen, now)
    lost = [f"job filter {uuid} is not taken over" for uuid in theirs.filters]
    return Judgement(obstacles, [*lost, *(() if strict else unlike)])


def identity_obstacles(ours: ConfigData, theirs: ConfigData) -> Iterator[str]:
    """It must be another cluster."""
    if ours.cluster.uuid == theirs.cluster.uuid:
        yield f"{theirs.cluster.cluster_name} is this cluster itself"


def address_obstacles(ours: ConfigData, theirs: ConfigData) -> Iterator[str]:
    """The nodes of one cluster have addresses of one kind."""
    if ours.cluster.primary_ip_family != theirs.cluster.primary_ip_family:
        yield "the nodes' primary addresses are IPv4 ones in one cluster and IPv6 ones in the other"
    if has_secondaries(ours) != has_secondaries(theirs):
        yield "the nodes have secondary addresses of their own in one cluster only"
    for node in theirs.nodes.values():
        if ours.cluster.master_ip in (node.primary_ip, node.secondary_ip):
            yield f"address {ours.cluster.master_ip} of node {node.name} is that of cluster {ours.cluster.cluster_name}"


def has_secondaries(config: ConfigData) -> bool:
    """Whether nodes have a second address."""
    return any(node.primary_ip != node.secondary_ip for node in config.nodes.values())


def in_both(ours: ConfigData, theirs: ConfigData) -> list[str]:
    """What only one may have, and objects of both clusters have; ports are given anew."""
    held: dict[Claim, str] = {claim: holder for holder, claims in all_claims(ours) for claim in claims}
    return [
        f"{claim} is in both clusters: {held[claim]} here, {holder} there"
        for holder, claims in all_claims(with_free_ports(ours, theirs))
        for claim in claims
        if claim in held and holder != "the cluster"
    ]


def new_faults(ours: ConfigData, theirs: ConfigData, chosen: Choices, now: float) -> list[str]:
    """What would be wrong with the one cluster that is not wrong with ours."""
    try:
        after = united(ours, theirs, chosen, now)
    except GanetiError as error:
        return [str(error)]
    known = set(verify(ours))
    return [fault for fault in verify(after) if fault not in known]


def united(ours: ConfigData, theirs: ConfigData, chosen: Choices, now: float) -> ConfigData:
    """One configuration. The nodes that come are offline, and no candidates, until they are added again.

    Only where `judged` finds no obstacles. @raise ConfigurationError: there are not enough ports.
    """
    coming = with_free_ports(ours, placed(ours, theirs, chosen.groups))
    nodes = [
        touched(replace(node, master_candidate=False, offline=True, drained=False), now)
        for node in coming.nodes.values()
    ]
    after = with_objects(ours, "nodes", nodes)
    for container in ("networks", "instances", "disks"):
        after = with_objects(after, container, getattr(coming, container).values())
    groups = [own_members(coming, group) for group in coming.nodegroups.values()]
    grown = extended(ours, theirs, chosen.groups)
    after = with_objects(after, "nodegroups", [touched(group, now) for group in (*groups, *grown)])
    gained = claims_of(coming, instances=coming.instances, disks=coming.disks)
    return with_ports(after, gained, (), now)


def own_members(config: ConfigData, group: NodeGroup) -> NodeGroup:
    """The group with the members that say so."""
    return replace(group, members=tuple(sorted(members(config, group.uuid))))
