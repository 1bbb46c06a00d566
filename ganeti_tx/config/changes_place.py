"""Changes of where instances run."""

from collections.abc import Sequence

from msgspec.structs import replace

from ganeti_tx.config.accounts import settled
from ganeti_tx.config.claims import MINOR, PORT, Claim
from ganeti_tx.config.edit import Change, nothing, stored, with_objects
from ganeti_tx.model.base import touched
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import DiskPlace, with_place
from ganeti_tx.model.instance import Instance


def move_instance(uuid: str, primary_node: str) -> Change[Instance]:
    """Say on which node (a uuid) an instance runs; nothing changes when it is so already.

    @raise ConfigurationError: the node does not have its disks.
    """

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("instance", config.instances, uuid)
        stored("node", config.nodes, primary_node)
        if held.primary_node == primary_node:
            return config
        after = with_objects(config, "instances", [touched(replace(held, primary_node=primary_node), now)])
        return settled(config, after, now, instances=[uuid], disks=[])

    return Change(edit, lambda config: config.instances[uuid])


def place_instance(uuid: str, primary_node: str, places: Sequence[DiskPlace]) -> Change[None]:
    """Say on which node (a uuid) an instance runs, and where disks of it are, all at once; nothing else of them changes."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("instance", config.instances, uuid)
        stored("node", config.nodes, primary_node)
        disks = [stored("disk", config.disks, place.uuid) for place in places]
        moved = [with_place(disk, place) for disk, place in zip(disks, places, strict=True)]
        changed = [touched(new, now) for new, disk in zip(moved, disks, strict=True) if new != disk]
        after = with_objects(config, "disks", changed) if changed else config
        if held.primary_node != primary_node:
            after = with_objects(after, "instances", [touched(replace(held, primary_node=primary_node), now)])
        return settled(config, after, now, instances=[uuid], disks=[place.uuid for place in places])

    minors = [
        Claim(MINOR, minor, node) for place in places for node, minor in zip(place.nodes, place.minors, strict=False)
    ]
    ports = [Claim(PORT, port) for place in places for port in place.ports]
    return Change(edit, nothing, [*minors, *ports])
