"""Changes of networks: pure functions from one configuration to the next."""

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
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.network import Network


def add_network(network: Network) -> Change[None]:
    """Add a network."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        absent(f"network {network.name}", config.networks, network.uuid)
        return network_checked(config, with_objects(config, "networks", [fresh(network, now)]), network)

    return Change(edit, nothing)


def update_network(network: Network) -> Change[Network]:
    """Replace a network whose serial number has not changed."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = stored("network", config.networks, network.uuid)
        given = renewed(f"network {held.name}", held, network, now)
        return network_checked(config, with_objects(config, "networks", [given]), network)

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


def network_checked(before: ConfigData, after: ConfigData, network: Network) -> ConfigData:
    """@raise ConfigurationError: the network has faults, or its name is taken."""
    held = before.networks.get(network.uuid)
    gained = set(network_claims(network)).difference(network_claims(held) if held is not None else ())
    return checked(before, after, lambda config: [*network_faults(config, network.uuid), *clashes(config, gained)])
