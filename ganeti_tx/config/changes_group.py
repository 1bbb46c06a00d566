"""Changes of node groups: pure functions from one configuration to the next."""

from msgspec.structs import replace

from ganeti_tx.config.claims import clashes, group_claims
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
from ganeti_tx.config.upgrade import with_default_group
from ganeti_tx.config.verify_cluster import group_faults
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.base import touched
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.nodegroup import NodeGroup


def add_group(group: NodeGroup) -> Change[None]:
    """Add a group without nodes; moving nodes into it is a change of the nodes."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        absent(f"node group {group.name}", config.nodegroups, group.uuid)
        after = with_objects(config, "nodegroups", [fresh(replace(group, members=()), now)])
        return group_checked(config, after, group)

    return Change(edit, nothing)


def update_group(group: NodeGroup) -> Change[NodeGroup]:
    """Replace a group whose serial number has not changed; its members stay, they follow from the nodes."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("node group", config.nodegroups, group.uuid)
        given = renewed(f"node group {held.name}", held, replace(group, members=held.members), now)
        return group_checked(config, with_objects(config, "nodegroups", [given]), group)

    return Change(edit, lambda config: config.nodegroups[group.uuid])


def remove_group(uuid: str) -> Change[None]:
    """Remove a group without nodes that is not the last; was it the default group, that is the master's from then on."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("node group", config.nodegroups, uuid)
        nodes = [node.name for node in config.nodes.values() if node.group == uuid]
        if nodes:
            raise ConfigurationError(f"node group {held.name} has nodes: {', '.join(sorted(nodes)[:5])}")
        if len(config.nodegroups) == 1:
            raise ConfigurationError(f"node group {held.name} is the last one; a cluster has at least one")
        after = without_objects(config, "nodegroups", [uuid])
        return after if config.cluster.default_group != uuid else with_default(after, now)

    return Change(edit, nothing)


def with_default(config: ConfigData, now: float) -> ConfigData:
    """With another default group than the one that is gone."""
    after = with_default_group(config)
    return replace(after, cluster=touched(after.cluster, now))


def group_checked(before: ConfigData, after: ConfigData, group: NodeGroup) -> ConfigData:
    """@raise ConfigurationError: the group has faults, or its name is taken."""
    held = before.nodegroups.get(group.uuid)
    gained = set(group_claims(group)).difference(group_claims(held) if held is not None else ())
    return checked(before, after, lambda config: [*group_faults(config, group.uuid), *clashes(config, gained)])
