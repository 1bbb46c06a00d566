"""Every inconsistency of a configuration: dangling references, things used twice, parameters that do not fit."""

from ganeti_tx.config.claims import PORT, clashes, taken
from ganeti_tx.config.faults import tracked_faults
from ganeti_tx.config.verify_cluster import candidate_faults, cluster_faults, group_faults, node_faults
from ganeti_tx.config.verify_instances import disk_faults, instance_faults, network_faults
from ganeti_tx.model.config_data import CONFIG_VERSION, ConfigData
from ganeti_tx.runtime.daemon_control import DaemonControl
from ganeti_tx.runtime.daemon_names import MASTER

#: Which function checks the objects of a container.
CHECKS = (
    ("nodegroups", group_faults),
    ("nodes", node_faults),
    ("networks", network_faults),
    ("instances", instance_faults),
    ("disks", disk_faults),
)


def verify(config: ConfigData) -> list[str]:
    """A line for each fault: the object, what is wrong, what to do. Empty when all is well."""
    return [
        *version_faults(config),
        *tracked_faults("configuration", "", config, ""),
        *cluster_faults(config),
        *candidate_faults(config),
        *(fault for container, check in CHECKS for key in getattr(config, container) for fault in check(config, key)),
        *filter_faults(config),
        *clashes(config),
        *used_free_ports(config),
    ]


def version_faults(config: ConfigData) -> list[str]:
    """The version must be the present one."""
    if config.version == CONFIG_VERSION:
        return []
    return [
        f"configuration: version is {config.version}, not {CONFIG_VERSION}; "
        f"'{DaemonControl.here().command('restart', MASTER)}' upgrades it"
    ]


def filter_faults(config: ConfigData) -> list[str]:
    """Job filters must stand under their own uuids."""
    return [
        f"filter {rule.uuid}: stands under the key {key}; delete it with 'gnt-filter delete' and add it again"
        for key, rule in config.filters.items()
        if key != rule.uuid
    ]


def used_free_ports(config: ConfigData) -> list[str]:
    """Ports that are in the pool of free ones and in use."""
    used = taken(config, PORT) & set(config.cluster.tcpudp_port_pool)
    return [
        f"TCP port {port} is in use and in the pool of free ports; remove it from the pool" for port in sorted(used)
    ]
