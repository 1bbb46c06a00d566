"""Changes of where instances run."""

from msgspec.structs import replace

from ganeti_tx.config.accounts import settled
from ganeti_tx.config.edit import Change, stored, with_objects
from ganeti_tx.model.base import touched
from ganeti_tx.model.config_data import ConfigData
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
