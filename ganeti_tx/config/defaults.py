"""What a new cluster starts with, and what objects of older configurations read as where they lack a key."""

from collections.abc import Mapping
from typing import Any

from msgspec import to_builtins

from ganeti_tx.model.cluster import COLLECTORS, DEFAULT_COLLECTOR
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.params import hypervisor
from ganeti_tx.model.params.backend import BackendParams
from ganeti_tx.model.params.ipolicy import InstancePolicy
from ganeti_tx.model.params.kinds import defaults_of
from ganeti_tx.model.params.nic import NicParams
from ganeti_tx.model.params.node import NodeParams

FIRST_PORT = 11000
LAST_PORT = 14999
MAC_PREFIX = "aa:00:00"

#: Every field of a cluster that has a sensible value before anybody has chosen one, as it is written.
CLUSTER_DEFAULTS: Mapping[str, Any] = {
    "master_netmask": 32,
    "use_external_mip_script": False,
    "primary_ip_family": 2,
    "mac_prefix": MAC_PREFIX,
    "highest_used_port": FIRST_PORT - 1,
    "tcpudp_port_pool": [],
    "rsahostkeypub": "",
    "ssh_key_type": "rsa",
    "ssh_key_bits": 2048,
    "candidate_pool_size": 10,
    "candidate_certs": {},
    "modify_etc_hosts": True,
    "modify_ssh_setup": True,
    "maintain_node_health": False,
    "uid_pool": [],
    "enabled_hypervisors": [Hypervisor.KVM.value],
    "hvparams": {kind.value: dict(defaults_of(params)) for kind, params in hypervisor.PARAMS.items()},
    "os_hvp": {},
    "beparams": {"default": dict(defaults_of(BackendParams))},
    "nicparams": {"default": dict(defaults_of(NicParams))},
    "ndparams": dict(defaults_of(NodeParams)),
    "ipolicy": to_builtins(InstancePolicy()),
    "osparams": {},
    "osparams_private_cluster": {},
    "hidden_os": [],
    "blacklisted_os": [],
    "enabled_disk_templates": [DiskTemplate.DRBD.value, DiskTemplate.PLAIN.value],
    "diskparams": {word.value: dict(defaults_of(template.params)) for word, template in TEMPLATES.items()},
    "file_storage_dir": "",
    "shared_file_storage_dir": "",
    "gluster_storage_dir": "",
    "reserved_lvs": [],
    "prealloc_wipe_disks": False,
    "default_iallocator": "",
    "default_iallocator_params": {},
    "max_running_jobs": 20,
    "max_tracked_jobs": 25,
    "install_image": "",
    "zeroing_image": "",
    "compression_tools": ["gzip", "gzip-fast", "gzip-slow"],
    "instance_communication_network": "",
    "enabled_user_shutdown": False,
    "data_collectors": {name: to_builtins(DEFAULT_COLLECTOR) for name in COLLECTORS},
}
NODE_DEFAULTS: Mapping[str, Any] = {
    "master_candidate": False,
    "offline": False,
    "drained": False,
    "master_capable": True,
    "vm_capable": True,
    "powered": True,
    "ndparams": {},
}
GROUP_DEFAULTS: Mapping[str, Any] = {
    "alloc_policy": "preferred",
    "ndparams": {},
    "ipolicy": {},
    "diskparams": {},
    "networks": {},
}
INSTANCE_DEFAULTS: Mapping[str, Any] = {"admin_state_source": "admin", "disks_active": False}
