"""Changes of the cluster object and of the filter rules: pure functions from one configuration to the next."""

from collections.abc import Iterator

from msgspec.structs import replace

from ganeti_tx.config.edit import Change, checked, nothing, renewed, stored, with_objects, without_objects
from ganeti_tx.config.verify import used_free_ports
from ganeti_tx.config.verify_cluster import cluster_faults
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.base import touched
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.model.network import Network


def update_cluster(cluster: Cluster) -> Change[Cluster]:
    """Replace the cluster object whose serial number has not changed."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = config.cluster
        given = renewed(f"cluster {held.cluster_name}", held, replace(cluster, uuid=held.uuid), now)
        after = replace(config, cluster=given)
        return checked(config, after, lambda config: [*cluster_faults(config), *used_free_ports(config)])

    return Change(edit, lambda config: config.cluster)


def rename_cluster(name: str, address: str) -> Change[Cluster]:
    """Give the cluster a name and an address, whatever else was changed of it meanwhile."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        if address in {each for node in config.nodes.values() for each in (node.primary_ip, node.secondary_ip)}:
            raise ConfigurationError(f"the cluster's address cannot be {address}, which is a node's")
        after = replace(config, cluster=touched(replace(config.cluster, cluster_name=name, master_ip=address), now))
        after = with_objects(after, "networks", _networks_reserving(config, address, now))
        return checked(config, after, cluster_faults)

    return Change(edit, lambda config: config.cluster)


def _networks_reserving(config: ConfigData, address: str, now: float) -> Iterator[Network]:
    """The networks in which the cluster's former address was kept from instances, with the new one kept instead.

    One that has neither, or was made without regard to such addresses, stays as it is.
    """
    former = config.cluster.master_ip
    if former == address:
        return
    for network in config.networks.values():
        pool = AddressPool(network)
        gives_up = pool.holds(former) and network.gateway != former and pool.is_external(former)
        after = pool.unreserving(former) if gives_up else network
        if AddressPool(after).holds(address) and (gives_up or not pool.holds(former)):
            after = AddressPool(after).reserving(address)
        if after != network:
            yield touched(after, now)


def put_filter(rule: FilterRule) -> Change[None]:
    """Add a filter rule, or replace the one of its uuid."""
    return Change(lambda config, now: with_objects(config, "filters", [rule]), nothing)


def remove_filter(uuid: str) -> Change[None]:
    """Remove a filter rule."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        stored("filter", config.filters, uuid)
        return without_objects(config, "filters", [uuid])

    return Change(edit, nothing)
