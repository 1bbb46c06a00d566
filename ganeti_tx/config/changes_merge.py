"""Taking in another cluster, and taking that back: pure functions from one configuration to the next."""

from collections.abc import Sequence

from msgspec.structs import replace

from ganeti_tx.config.accounts import with_ports
from ganeti_tx.config.claims import claims_of
from ganeti_tx.config.edit import MAX_FAULTS, Change, checked, nothing, with_objects, without_objects
from ganeti_tx.config.merging.choices import Choices
from ganeti_tx.config.merging.united import judged, united
from ganeti_tx.config.verify import verify
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.base import touched
from ganeti_tx.model.config_data import ConfigData, containers


def join_cluster(other: ConfigData, choices: Choices) -> Change[None]:
    """Take in all that another cluster has; its nodes are offline until they are added again."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        obstacles = judged(config, other, choices, now).obstacles
        if obstacles:
            more = f"; and {len(obstacles) - MAX_FAULTS} more" if len(obstacles) > MAX_FAULTS else ""
            raise ConfigurationError("the clusters cannot be merged: " + "; ".join(obstacles[:MAX_FAULTS]) + more)
        return united(config, other, choices, now)

    return Change(edit, nothing)


def part_clusters(uuids: Sequence[str]) -> Change[None]:
    """Drop what was taken in, while none of its nodes is in service; what is not there (any more) is no fault."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        gone = set(uuids)
        for uuid in gone & config.nodes.keys():
            if not config.nodes[uuid].offline:
                raise ConfigurationError(f"node {config.nodes[uuid].name} is in service, so it stays in the cluster")
        after = config
        for container in containers():
            if gone & getattr(config, container).keys():
                after = without_objects(after, container, gone)
        if after is config:
            return config
        left = [
            replace(
                group,
                members=tuple(uuid for uuid in group.members if uuid not in gone),
                networks={uuid: params for uuid, params in group.networks.items() if uuid not in gone},
            )
            for group in after.nodegroups.values()
        ]
        smaller = [touched(group, now) for group in left if group != after.nodegroups[group.uuid]]
        lost = claims_of(config, instances=gone & config.instances.keys(), disks=gone & config.disks.keys())
        return checked(config, with_ports(with_objects(after, "nodegroups", smaller), (), lost, now), verify)

    return Change(edit, nothing)
