"""Opcodes about the cluster as a whole."""

from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.private import Private
from ganeti_tx.model.opcodes.types import (
    IdRange,
    ListAction,
    NicParams,
    NonEmpty,
    NonNegative,
    Params,
    Positive,
    SshKeyType,
)


class OpClusterPostInit(OpCode, tag="OP_CLUSTER_POST_INIT"):
    """Run the hooks that follow the making of a cluster."""


class OpClusterDestroy(OpCode, tag="OP_CLUSTER_DESTROY"):
    """End the cluster; it must be empty but for the master."""


class OpClusterRename(OpCode, tag="OP_CLUSTER_RENAME"):
    """Give the cluster another name and, with it, another address."""

    summary_field = "name"

    name: NonEmpty


class OpClusterSetParams(OpCode, tag="OP_CLUSTER_SET_PARAMS"):
    """Change settings of the cluster; what is null stays."""

    force: bool = False
    hv_state: Params | None = None
    disk_state: Params | None = None
    vg_name: str | None = None
    enabled_hypervisors: tuple[Hypervisor, ...] | None = None
    hvparams: dict[str, Params] | None = None
    beparams: Params | None = None
    os_hvp: dict[str, Params] | None = None
    osparams: dict[str, Params] | None = None
    osparams_private_cluster: dict[str, dict[str, Private]] | None = None
    diskparams: dict[DiskTemplate, Params] | None = None
    candidate_pool_size: Positive | None = None
    max_running_jobs: Positive | None = None
    max_tracked_jobs: Positive | None = None
    uid_pool: tuple[IdRange, ...] | None = None
    add_uids: tuple[IdRange, ...] | None = None
    remove_uids: tuple[IdRange, ...] | None = None
    maintain_node_health: bool | None = None
    prealloc_wipe_disks: bool | None = None
    nicparams: NicParams | None = None
    ndparams: Params | None = None
    ipolicy: Params | None = None
    drbd_helper: str | None = None
    default_iallocator: str | None = None
    default_iallocator_params: Params | None = None
    mac_prefix: NonEmpty | None = None
    master_netdev: str | None = None
    master_netmask: NonNegative | None = None
    reserved_lvs: tuple[NonEmpty, ...] | None = None
    hidden_os: tuple[tuple[ListAction, NonEmpty], ...] | None = None
    blacklisted_os: tuple[tuple[ListAction, NonEmpty], ...] | None = None
    use_external_mip_script: bool | None = None
    enabled_disk_templates: tuple[DiskTemplate, ...] | None = None
    modify_etc_hosts: bool | None = None
    file_storage_dir: str | None = None
    shared_file_storage_dir: str | None = None
    gluster_storage_dir: str | None = None
    install_image: str | None = None
    instance_communication_network: str | None = None
    zeroing_image: str | None = None
    compression_tools: tuple[NonEmpty, ...] | None = None
    enabled_user_shutdown: bool | None = None
    enabled_data_collectors: dict[str, bool] | None = None
    data_collector_interval: dict[str, int] | None = None


class OpClusterQuery(OpCode, tag="OP_CLUSTER_QUERY"):
    """Tell everything about the cluster in one answer."""


class OpClusterConfigQuery(OpCode, tag="OP_CLUSTER_CONFIG_QUERY"):
    """Tell single facts about the cluster."""

    output_fields: tuple[NonEmpty, ...]


class OpClusterRedistConf(OpCode, tag="OP_CLUSTER_REDIST_CONF"):
    """Send configuration and key files to all nodes once more."""


class OpClusterRenewCrypto(OpCode, tag="OP_CLUSTER_RENEW_CRYPTO"):
    """Replace the certificates or SSH keys of the nodes."""

    node_certificates: bool = False
    renew_ssh_keys: bool = False
    ssh_key_type: SshKeyType | None = None
    ssh_key_bits: Positive | None = None
    verbose: bool = False
    debug: bool = False


class OpClusterRepairDiskSizes(OpCode, tag="OP_CLUSTER_REPAIR_DISK_SIZES"):
    """Correct recorded disk sizes to the real ones."""

    instances: tuple[NonEmpty, ...] = ()


class OpClusterActivateMasterIp(OpCode, tag="OP_CLUSTER_ACTIVATE_MASTER_IP"):
    """Bring up the cluster's address on the master."""


class OpClusterDeactivateMasterIp(OpCode, tag="OP_CLUSTER_DEACTIVATE_MASTER_IP"):
    """Take down the cluster's address on the master."""
