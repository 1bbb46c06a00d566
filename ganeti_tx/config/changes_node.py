"""Changes of nodes: pure functions from one configuration to the next. A group's list of members follows its nodes."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ganeti_tx.config.claims import clashes, node_claims
from ganeti_tx.config.edit import (
    Change,
    absent,
    checked,
    fresh,
    nothing,
    renewed,
    stored,
    with_objects,
    without_objects,
)
from ganeti_tx.config.placement import disks_on, instances_on
from ganeti_tx.config.verify_cluster import master_faults, node_faults
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.base import touched
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_certificates import keys_of, keys_of_candidate, server_key

#: So many names an error lists.
MAX_NAMED = 5


def add_node(node: Node, certificate_digest: str | None, server_digest: str | None = None) -> Change[None]:
    """Add a node to its group.

    @param certificate_digest: with which it makes calls; it counts if it is a master candidate.
    @param server_digest: by which it is known when it is called.
    """

    def edit(config: ConfigData, now: float) -> ConfigData:
        absent(f"node {node.name}", config.nodes, node.uuid)
        after = with_member(with_objects(config, "nodes", [fresh(node, now)]), node, now)
        if certificate_digest is not None and node.master_candidate:
            after = with_certificates(after, {node.uuid: certificate_digest}, now)
        if server_digest is not None:
            after = with_certificates(after, {server_key(node.uuid): server_digest}, now)
        return node_checked(config, after, node)

    return Change(edit, nothing)


def change_nodes(nodes: Sequence[Node], digests: Mapping[str, str], candidates: int = 0) -> Change[None]:
    """As update_node for several in one change: whoever goes is replaced by whoever comes, or nothing happens.

    @param digests: of the certificates of those that become master candidates, by uuid; without it a node cannot. Those
        under `keys_of` a node are what it is known by from now on.
    @param candidates: so many master candidates there must be then: two nodes that leave them at a time count on each other.
    """

    def edit(config: ConfigData, now: float) -> ConfigData:
        after = config
        for node in nodes:
            held = stored("node", config.nodes, node.uuid)
            if node.master_candidate and not held.master_candidate and node.uuid not in digests:
                raise ConfigurationError(
                    f"node {held.name} cannot become a master candidate: the digest of its certificate is not known"
                )
            after = update_node(node)(after, now)
        kept = {node.uuid: digests[node.uuid] for node in nodes if node.master_candidate and node.uuid in digests}
        left = sum(node.master_candidate for node in after.nodes.values())
        if left < candidates:
            raise ConfigurationError(
                f"there would be {left} master candidates instead of {candidates}, as another node has left them meanwhile;"
                " look at 'gnt-node list -o name,role', and repeat the change if it shall be made nevertheless"
            )
        known = {key: digests[key] for uuid in config.nodes for key in keys_of(uuid) if key in digests}
        return with_certificates(after, {**kept, **known}, now)

    return Change(edit, nothing)


def update_node(node: Node) -> Change[Node]:
    """Replace a node whose serial number has not changed; one that is no candidate any more loses the right to make node calls."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("node", config.nodes, node.uuid)
        after = with_objects(config, "nodes", [renewed(f"node {held.name}", held, node, now)])
        if node.group != held.group:
            after = with_member(without_member(after, held, now), node, now)
        for key in () if node.master_candidate else keys_of_candidate(node.uuid):
            after = without_certificate(after, key, now)
        return node_checked(config, after, node)

    return Change(edit, lambda config: config.nodes[node.uuid])


def remove_node(uuid: str) -> Change[None]:
    """Remove a node that has no instances and is not the master."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("node", config.nodes, uuid)
        if uuid == config.cluster.master_node:
            raise ConfigurationError(f"node {held.name} is the master; fail over to another master first")
        using = [instance.name for instance in instances_on(config, uuid)]
        if using:
            more = f" and {len(using) - MAX_NAMED} more" if len(using) > MAX_NAMED else ""
            raise ConfigurationError(f"node {held.name} has instances: {', '.join(using[:MAX_NAMED])}{more}")
        if left := disks_on(config, uuid):
            raise ConfigurationError(f"node {held.name} has disks without an instance: {', '.join(left[:MAX_NAMED])}")
        after = without_member(without_objects(config, "nodes", [uuid]), held, now)
        for key in (*keys_of_candidate(uuid), *keys_of(uuid)):
            after = without_certificate(after, key, now)
        return after

    return Change(edit, nothing)


def with_member(config: ConfigData, node: Node, now: float) -> ConfigData:
    """The node's group lists it."""
    group = stored("node group", config.nodegroups, node.group)
    members = tuple(sorted({*group.members, node.uuid}))
    return with_objects(config, "nodegroups", [touched(replace(group, members=members), now)])


def without_member(config: ConfigData, node: Node, now: float) -> ConfigData:
    """The node's group does not list it any more."""
    group = config.nodegroups.get(node.group)
    if group is None:
        return config
    members = tuple(uuid for uuid in group.members if uuid != node.uuid)
    return with_objects(config, "nodegroups", [touched(replace(group, members=members), now)])


def with_certificates(config: ConfigData, digests: Mapping[str, str], now: float) -> ConfigData:
    """The certificates are candidates' now."""
    certs = {**config.cluster.candidate_certs, **digests}
    if certs == config.cluster.candidate_certs:
        return config
    return replace(config, cluster=touched(replace(config.cluster, candidate_certs=certs), now))


def without_certificate(config: ConfigData, key: str, now: float) -> ConfigData:
    """A certificate does not count any more."""
    cluster = config.cluster
    if key not in cluster.candidate_certs:
        return config
    certs = {held: digest for held, digest in cluster.candidate_certs.items() if held != key}
    return replace(config, cluster=touched(replace(cluster, candidate_certs=certs), now))


def node_checked(before: ConfigData, after: ConfigData, node: Node) -> ConfigData:
    """@raise ConfigurationError: the node has faults, its name or address is taken, or the master is none any more."""
    held = before.nodes.get(node.uuid)
    gained = set(node_claims(node)).difference(node_claims(held) if held is not None else ())

    def faults(config: ConfigData) -> list[str]:
        return [
            *node_faults(config, node.uuid),
            *clashes(config, gained),
            *master_faults(config, f"cluster {config.cluster.cluster_name}"),
        ]

    return checked(before, after, faults)
