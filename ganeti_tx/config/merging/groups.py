"""The node groups of a cluster that is merged: those whose name is taken are merged or renamed, as was chosen."""

from collections.abc import Mapping

from msgspec.structs import replace

from ganeti_tx.config.merging.choices import SameGroup
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.nodegroup import NodeGroup


def same_groups(ours: ConfigData, theirs: ConfigData) -> dict[str, NodeGroup]:
    """Our group of the same name, by the uuid of theirs."""
    named = {group.name.lower(): group for group in ours.nodegroups.values()}
    return {uuid: named[each.name.lower()] for uuid, each in theirs.nodegroups.items() if each.name.lower() in named}


def group_obstacles(ours: ConfigData, theirs: ConfigData, chosen: SameGroup | None) -> list[str]:
    """Names that both have while nobody said what shall become of them."""
    if chosen is not None:
        return []
    return [
        f"node group {group.name} is in both clusters: --groups={SameGroup.MERGE} makes one of the two, "
        f"--groups={SameGroup.RENAME} gives the other cluster's another name"
        for group in same_groups(ours, theirs).values()
    ]


def renamed(theirs: ConfigData, same: Mapping[str, NodeGroup]) -> ConfigData:
    """Their groups whose names are taken end with their cluster's name."""
    tail = theirs.cluster.cluster_name
    groups = {
        uuid: replace(group, name=f"{group.name}-{tail}") if uuid in same else group
        for uuid, group in theirs.nodegroups.items()
    }
    return replace(theirs, nodegroups=groups)


def placed(ours: ConfigData, theirs: ConfigData, chosen: SameGroup | None) -> ConfigData:
    """Their configuration with its nodes in the groups in which they will be; what is merged is no group of theirs any more."""
    same = same_groups(ours, theirs)
    if chosen is SameGroup.RENAME:
        return renamed(theirs, same)
    target = {uuid: group.uuid for uuid, group in same.items()}
    nodes = {uuid: replace(node, group=target.get(node.group, node.group)) for uuid, node in theirs.nodes.items()}
    groups = {uuid: group for uuid, group in theirs.nodegroups.items() if uuid not in same}
    return replace(theirs, nodes=nodes, nodegroups=groups)


def extended(ours: ConfigData, theirs: ConfigData, chosen: SameGroup | None) -> list[NodeGroup]:
    """Our groups that get nodes and networks of theirs."""
    if chosen is SameGroup.RENAME:
        return []
    return [
        replace(
            group,
            members=tuple(sorted({*group.members, *members(theirs, uuid)})),
            networks={**theirs.nodegroups[uuid].networks, **group.networks},
        )
        for uuid, group in same_groups(ours, theirs).items()
    ]


def members(config: ConfigData, group: str) -> list[str]:
    """The nodes of a group."""
    return [uuid for uuid, node in config.nodes.items() if node.group == group]
