"""Changes of networks: pure functions from one configuration to the next."""

from msgspec.structs import replace

from ganeti_tx.config.changes_group import group_checked
from ganeti_tx.config.claims import clashes, network_claims
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
from ganeti_tx.config.verify_instances import network_faults
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.base import Params, touched
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.network import Network
from ganeti_tx.model.nodegroup import NodeGroup


def add_network(network: Network) -> Change[None]:
    """Add a network."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        absent(f"network {network.name}", config.networks, network.uuid)
        return network_checked(config, with_objects(config, "networks", [fresh(network, now)]), network)

    return Change(edit, nothing)


def update_network(network: Network) -> Change[Network]:
    """Replace a network whose serial number has not changed; which addresses instances have follows from their NICs.

    The cluster's setting for instance communication follows its name.
    """

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("network", config.networks, network.uuid)
        given = renewed(f"network {held.name}", held, replace(network, reservations=held.reservations), now)
        after = with_objects(config, "networks", [given])
        if config.cluster.instance_communication_network == held.name != given.name:
            cluster = replace(config.cluster, instance_communication_network=given.name)
            after = replace(after, cluster=touched(cluster, now))
        return network_checked(config, after, network)

    return Change(edit, lambda config: config.networks[network.uuid])


def remove_network(uuid: str) -> Change[None]:
    """Remove a network that no group is connected to and no NIC uses."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("network", config.networks, uuid)
        groups = sorted(group.name for group in config.nodegroups.values() if uuid in group.networks)
        if groups:
            raise ConfigurationError(f"network {held.name} is connected to node groups: {', '.join(groups[:5])}")
        instances = sorted(
            instance.name for instance in config.instances.values() if any(nic.network == uuid for nic in instance.nics)
        )
        if instances:
            raise ConfigurationError(f"network {held.name} is used by instances: {', '.join(instances[:5])}")
        return without_objects(config, "networks", [uuid])

    return Change(edit, nothing)


def connect_network(uuid: str, group: str, params: Params) -> Change[NodeGroup]:
    """Give a group (a uuid) a network that it does not have; `params` say how its nodes reach it."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        network = stored("network", config.networks, uuid)
        held = stored("node group", config.nodegroups, group)
        if uuid in held.networks:
            raise ConfigurationError(f"network {network.name} is connected to node group {held.name} already")
        after = touched(replace(held, networks={**held.networks, uuid: params}), now)
        return group_checked(config, with_objects(config, "nodegroups", [after]), after)

    return Change(edit, lambda config: config.nodegroups[group])


def disconnect_network(uuid: str, group: str) -> Change[NodeGroup]:
    """Take a network from a group (a uuid) of which no instance uses it."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        network = stored("network", config.networks, uuid)
        held = stored("node group", config.nodegroups, group)
        if uuid not in held.networks:
            raise ConfigurationError(f"network {network.name} is not connected to node group {held.name}")
        users = sorted(instance.name for instance in users_in(config, uuid, group))
        if users:
            raise ConfigurationError(
                f"network {network.name} is used by instances of node group {held.name}: {', '.join(users[:5])}"
            )
        networks = {other: params for other, params in held.networks.items() if other != uuid}
        return with_objects(config, "nodegroups", [touched(replace(held, networks=networks), now)])

    return Change(edit, lambda config: config.nodegroups[group])


def users_in(config: ConfigData, uuid: str, group: str) -> list[Instance]:
    """The instances on nodes of a group that have a NIC in a network."""
    members = {node.uuid for node in config.nodes.values() if node.group == group}
    return [
        instance
        for instance in config.instances.values()
        if instance.primary_node in members and any(nic.network == uuid for nic in instance.nics)
    ]


def network_checked(before: ConfigData, after: ConfigData, network: Network) -> ConfigData:
    """@raise ConfigurationError: the network has faults, or its name is taken."""
    held = before.networks.get(network.uuid)
    gained = set(network_claims(network)).difference(network_claims(held) if held is not None else ())
    return checked(before, after, lambda config: [*network_faults(config, network.uuid), *clashes(config, gained)])
