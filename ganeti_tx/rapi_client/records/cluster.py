"""The cluster as `get_info` shows it."""

from typing import Any

from ganeti_tx.model.derived import WithFields
from ganeti_tx.model.settings.table import DECLARED
from ganeti_tx.rapi_client.records.base import Parameters, Record

#: All that is told of settings; None by a cluster that does not know it.
TOLD = {fact.name: (Any, None) for setting in DECLARED for fact in setting.facts}


class ClusterInfo(Record, metaclass=WithFields, fields=TOLD, frozen=True, kw_only=True):
    """Settings of the cluster, and what runs it (Ganeti 3.0 LUXI table, QueryClusterInfo).

    Written out are those that clusters of Ganeti tell, for programs whose types are checked.
    """

    name: str
    uuid: str
    master: str
    software_version: str
    protocol_version: int
    config_version: int
    os_api_version: int
    export_version: int
    vcs_version: str = ""
    architecture: tuple[str, ...] = ()
    ctime: float | None = None
    mtime: float | None = None
    tags: tuple[str, ...] = ()

    default_hypervisor: str
    enabled_hypervisors: tuple[str, ...]
    enabled_disk_templates: tuple[str, ...] = ()
    hvparams: Parameters
    os_hvp: Parameters = {}
    beparams: Parameters
    osparams: Parameters = {}
    nicparams: Parameters = {}
    ndparams: Parameters = {}
    diskparams: Parameters = {}
    ipolicy: Parameters = {}

    candidate_pool_size: int
    max_running_jobs: int | None = None
    max_tracked_jobs: int | None = None
    maintain_node_health: bool = False
    default_iallocator: str | None = None
    default_iallocator_params: Parameters | None = None
    prealloc_wipe_disks: bool = False
    hidden_os: tuple[str, ...] = ()
    blacklisted_os: tuple[str, ...] = ()
    uid_pool: tuple[Any, ...] = ()
    enabled_user_shutdown: bool = False
    install_image: str | None = None
    zeroing_image: str | None = None
    compression_tools: tuple[str, ...] = ()
    enabled_data_collectors: Parameters = {}
    data_collector_interval: Parameters = {}

    mac_prefix: str
    master_netdev: str
    master_netmask: int
    primary_ip_version: int = 4
    use_external_mip_script: bool = False
    instance_communication_network: str | None = None
    modify_ssh_setup: bool = False
    ssh_key_type: str | None = None
    ssh_key_bits: int | None = None

    volume_group_name: str | None = None
    reserved_lvs: tuple[str, ...] = ()
    drbd_usermode_helper: str | None = None
    file_storage_dir: str | None = None
    shared_file_storage_dir: str | None = None
    gluster_storage_dir: str | None = None
