"""What holds for the whole cluster."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from ganeti_tx.model.base import Params, Tracked, Wire, no_params, nothing, repr_without
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.params.ipolicy import InstancePolicy

PRIVATE = frozenset({"osparams_private_cluster"})

#: The collectors of the monitoring daemon (Ganeti 3.0 monitoring table); "inst-status-kvm" is none of Ganeti's.
COLLECTORS = ("cpu-avg-load", "diskstats", "drbd", "inst-status-kvm", "inst-status-xen", "lv", "xen-cpu-avg-load")


class DataCollector(Wire, frozen=True, kw_only=True):
    """Whether a collector of the monitoring daemon runs, and how often (microseconds)."""

    active: bool
    interval: int


DEFAULT_COLLECTOR = DataCollector(active=True, interval=5_000_000)


class Cluster(Tracked, frozen=True, kw_only=True):
    """The cluster's settings; nodes are uuids, parameters may be partial: defaults fill them."""

    uuid: str
    cluster_name: str
    master_node: str
    master_ip: str
    master_netdev: str
    master_netmask: int
    use_external_mip_script: bool
    primary_ip_family: Literal[2, 10]
    mac_prefix: str
    highest_used_port: int
    tcpudp_port_pool: tuple[int, ...]
    rsahostkeypub: str
    ssh_key_type: Literal["dsa", "rsa", "ecdsa"]
    ssh_key_bits: int
    candidate_pool_size: int
    candidate_certs: Mapping[str, str]
    modify_etc_hosts: bool
    modify_ssh_setup: bool
    maintain_node_health: bool
    uid_pool: tuple[tuple[int, int], ...]

    enabled_hypervisors: tuple[Hypervisor, ...]
    hvparams: Mapping[Hypervisor, Params]
    os_hvp: Mapping[str, Mapping[Hypervisor, Params]]
    beparams: Mapping[Literal["default"], Params]
    nicparams: Mapping[Literal["default"], Params]
    ndparams: Params
    ipolicy: InstancePolicy
    osparams: Mapping[str, Mapping[str, str]]
    osparams_private_cluster: Mapping[str, Mapping[str, str]]
    hidden_os: tuple[str, ...]
    blacklisted_os: tuple[str, ...]

    enabled_disk_templates: tuple[DiskTemplate, ...]
    diskparams: Mapping[DiskTemplate, Params]
    file_storage_dir: str
    shared_file_storage_dir: str
    gluster_storage_dir: str
    reserved_lvs: tuple[str, ...]
    prealloc_wipe_disks: bool

    default_iallocator: str
    default_iallocator_params: Params
    max_running_jobs: int
    max_tracked_jobs: int
    install_image: str
    zeroing_image: str
    compression_tools: tuple[str, ...]
    instance_communication_network: str
    enabled_user_shutdown: bool
    data_collectors: Mapping[str, DataCollector]

    tags: tuple[str, ...] = msgspec.field(default_factory=nothing)
    hv_state_static: Params = msgspec.field(default_factory=no_params)
    disk_state_static: Params = msgspec.field(default_factory=no_params)
    volume_group_name: str | None = None
    drbd_usermode_helper: str | None = None
    dsahostkeypub: str | None = None

    def __repr__(self) -> str:
        return repr_without(self, PRIVATE)
