"""What is told of the cluster as a whole: its settings with all parameters filled."""

from typing import Any

import msgspec

from ganeti_tx.model import versions
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.params.backend import fill_beparams
from ganeti_tx.model.params.disk import fill_diskparams
from ganeti_tx.model.params.hypervisor import fill_hvparams
from ganeti_tx.model.params.nic import fill_nicparams
from ganeti_tx.model.params.node import fill_ndparams

#: Address families (AF_INET, AF_INET6) as IP versions.
IP_VERSIONS = {2: 4, 10: 6}

#: Settings that go out as they are stored, under their own names.
AS_STORED = (
    "enabled_hypervisors",
    "os_hvp",
    "osparams",
    "candidate_pool_size",
    "max_running_jobs",
    "max_tracked_jobs",
    "mac_prefix",
    "master_netdev",
    "master_netmask",
    "use_external_mip_script",
    "volume_group_name",
    "drbd_usermode_helper",
    "file_storage_dir",
    "shared_file_storage_dir",
    "gluster_storage_dir",
    "maintain_node_health",
    "ctime",
    "mtime",
    "uuid",
    "tags",
    "uid_pool",
    "default_iallocator",
    "default_iallocator_params",
    "reserved_lvs",
    "prealloc_wipe_disks",
    "hidden_os",
    "blacklisted_os",
    "enabled_disk_templates",
    "install_image",
    "instance_communication_network",
    "zeroing_image",
    "compression_tools",
    "enabled_user_shutdown",
    "modify_ssh_setup",
    "ssh_key_type",
    "ssh_key_bits",
    "modify_etc_hosts",
)


def cluster_facts(cluster: Cluster, master_name: str, architecture: list[str]) -> dict[str, Any]:
    """The cluster as clients know it (Ganeti 3.0 LUXI table, QueryClusterInfo), with all that can be set."""
    return {
        "software_version": versions.RELEASE_VERSION,
        "protocol_version": versions.PROTOCOL_VERSION,
        "config_version": versions.CONFIG_VERSION,
        "os_api_version": versions.OS_API_VERSION,
        "export_version": versions.EXPORT_VERSION,
        "vcs_version": versions.VCS_VERSION,
        "architecture": architecture,
        "master": master_name,
        **from_cluster(cluster),
    }


def from_cluster(cluster: Cluster) -> dict[str, Any]:
    """All that follows from the cluster object alone."""
    return {
        **{name: getattr(cluster, name) for name in AS_STORED},
        "name": cluster.cluster_name,
        "hv_state": cluster.hv_state_static,
        "disk_state": cluster.disk_state_static,
        "default_hypervisor": cluster.enabled_hypervisors[0] if cluster.enabled_hypervisors else None,
        "hvparams": {hypervisor: fill_hvparams(cluster, hypervisor) for hypervisor in Hypervisor},
        "beparams": {"default": fill_beparams(cluster)},
        "nicparams": {"default": fill_nicparams(cluster)},
        "ndparams": fill_ndparams(cluster),
        "diskparams": fill_diskparams(cluster),
        "ipolicy": msgspec.to_builtins(cluster.ipolicy),
        "primary_ip_version": IP_VERSIONS[cluster.primary_ip_family],
        "enabled_data_collectors": {name: kept.active for name, kept in cluster.data_collectors.items()},
        "data_collector_interval": {name: kept.interval for name, kept in cluster.data_collectors.items()},
    }
