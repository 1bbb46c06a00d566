"""What `gnt-cluster init` asks for, as a typed document; what it leaves out has a default here or in the tables."""

from typing import Any

import msgspec

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.model import disk_templates, hypervisors
from ganeti_tx.model.ssh_keys import default_bits

DEFAULT_FILE_STORAGE = "/srv/ganeti/file-storage"
DEFAULT_SHARED_FILE_STORAGE = "/srv/ganeti/shared-file-storage"
DEFAULT_GLUSTER_STORAGE = "/var/run/ganeti/gluster"


class InitSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `gnt-cluster init` by their configuration names."""

    cluster_name: str
    secondary_ip: str | None = None
    primary_ip_version: int = 4
    master_netdev: str | None = None
    master_netmask: int | None = None
    use_external_mip_script: bool = False
    enabled_hypervisors: list[str] = msgspec.field(
        default_factory=lambda: [word.value for word in hypervisors.BY_DEFAULT]
    )
    enabled_disk_templates: list[str] = msgspec.field(
        default_factory=lambda: [word.value for word in disk_templates.AVAILABLE]
    )
    hvparams: dict[str, dict[str, Any]] = {}
    beparams: dict[str, Any] = {}
    nicparams: dict[str, Any] = {}
    ndparams: dict[str, Any] = {}
    diskparams: dict[str, dict[str, Any]] = {}
    ipolicy: dict[str, Any] = {}
    hv_state: dict[str, Any] = {}
    disk_state: dict[str, Any] = {}
    vg_name: str | None = None
    drbd_usermode_helper: str | None = None
    mac_prefix: str = "aa:00:00"
    candidate_pool_size: int = 10
    file_storage_dir: str = DEFAULT_FILE_STORAGE
    shared_file_storage_dir: str = DEFAULT_SHARED_FILE_STORAGE
    gluster_storage_dir: str = DEFAULT_GLUSTER_STORAGE
    default_iallocator: str = ""
    default_iallocator_params: dict[str, Any] = {}
    maintain_node_health: bool = False
    prealloc_wipe_disks: bool = False
    modify_etc_hosts: bool = False
    modify_ssh_setup: bool = False
    uid_pool: list[tuple[int, int]] = []
    compression_tools: list[str] = msgspec.field(default_factory=lambda: ["gzip", "gzip-fast", "gzip-slow"])
    install_image: str = ""
    zeroing_image: str = ""
    enabled_user_shutdown: bool = False
    ssh_key_type: str = "rsa"
    ssh_key_bits: int | None = None

    @property
    def ssh_bits(self) -> int:
        """As given, or as usual for keys of the type."""
        return self.ssh_key_bits if self.ssh_key_bits is not None else default_bits(self.ssh_key_type)


def read_settings(data: bytes) -> InitSettings:
    """@raise BootstrapError: not such a document; the text names the key."""
    try:
        return msgspec.json.decode(data, type=InitSettings)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise BootstrapError(f"cannot read the cluster's settings: {error}")
