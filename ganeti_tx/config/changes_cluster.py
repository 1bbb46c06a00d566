"""Changes of the cluster object and of the filter rules: pure functions from one configuration to the next."""

from msgspec.structs import replace

from ganeti_tx.config.edit import Change, checked, nothing, renewed, stored, with_objects, without_objects
from ganeti_tx.config.verify import used_free_ports
from ganeti_tx.config.verify_cluster import cluster_faults
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.filter_rule import FilterRule


def update_cluster(cluster: Cluster) -> Change[Cluster]:
    """Replace the cluster object whose serial number has not changed."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        held = config.cluster
        given = renewed(f"cluster {held.cluster_name}", held, replace(cluster, uuid=held.uuid), now)
        after = replace(config, cluster=given)
        return checked(config, after, lambda config: [*cluster_faults(config), *used_free_ports(config)])

    return Change(edit, lambda config: config.cluster)


def put_filter(rule: FilterRule) -> Change[None]:
    """Add a filter rule, or replace the one of its uuid."""
    return Change(lambda config, now: with_objects(config, "filters", [rule]), nothing)


def remove_filter(uuid: str) -> Change[None]:
    """Remove a filter rule."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        stored("filter", config.filters, uuid)
        return without_objects(config, "filters", [uuid])

    return Change(edit, nothing)
