"""What is told of the cluster (Ganeti 3.0 LUXI table, QueryClusterInfo), with the schemas of the values."""

from collections.abc import Mapping

from ganeti_tx.rapi.operations.operation import Schema
from ganeti_tx.rapi.operations.schemas import BOOLEAN, INTEGER, OBJECT, TEXT, exactly, list_of
from ganeti_tx.rapi.resources.fields import MAYBE_TEXT, TEXTS, TRACKED

#: Settings that are known under a second name, which is the one that changes them.
ALIASES = {"vg_name": "volume_group_name", "drbd_helper": "drbd_usermode_helper"}

VERSIONS: Mapping[str, Schema] = {
    "software_version": TEXT,
    "protocol_version": INTEGER,
    "config_version": INTEGER,
    "os_api_version": INTEGER,
    "export_version": INTEGER,
    "vcs_version": TEXT,
    "architecture": TEXTS,
}
SETTINGS: Mapping[str, Schema] = {
    "name": TEXT,
    "master": TEXT,
    "default_hypervisor": MAYBE_TEXT,
    "enabled_hypervisors": TEXTS,
    "hvparams": OBJECT,
    "os_hvp": OBJECT,
    "beparams": exactly({"default": OBJECT}),
    "osparams": OBJECT,
    "ipolicy": OBJECT,
    "nicparams": exactly({"default": OBJECT}),
    "ndparams": OBJECT,
    "diskparams": OBJECT,
    "candidate_pool_size": INTEGER,
    "max_running_jobs": INTEGER,
    "max_tracked_jobs": INTEGER,
    "mac_prefix": TEXT,
    "master_netdev": TEXT,
    "master_netmask": INTEGER,
    "use_external_mip_script": BOOLEAN,
    "volume_group_name": MAYBE_TEXT,
    "drbd_usermode_helper": MAYBE_TEXT,
    "file_storage_dir": TEXT,
    "shared_file_storage_dir": TEXT,
    "gluster_storage_dir": TEXT,
    "maintain_node_health": BOOLEAN,
    "uid_pool": list_of(list_of(INTEGER)),
    "default_iallocator": TEXT,
    "default_iallocator_params": OBJECT,
    "reserved_lvs": TEXTS,
    "primary_ip_version": {**INTEGER, "enum": [4, 6]},
    "prealloc_wipe_disks": BOOLEAN,
    "hidden_os": TEXTS,
    "blacklisted_os": TEXTS,
    "enabled_disk_templates": TEXTS,
    "install_image": TEXT,
    "instance_communication_network": TEXT,
    "zeroing_image": TEXT,
    "compression_tools": TEXTS,
    "enabled_user_shutdown": BOOLEAN,
    "enabled_data_collectors": {**OBJECT, "additionalProperties": BOOLEAN},
    "data_collector_interval": {**OBJECT, "additionalProperties": INTEGER},
    "modify_ssh_setup": BOOLEAN,
    "ssh_key_type": TEXT,
    "ssh_key_bits": INTEGER,
}
#: What Ganeti does not tell although it can be set.
MORE: Mapping[str, Schema] = {"hv_state": OBJECT, "disk_state": OBJECT, "modify_etc_hosts": BOOLEAN}

CLUSTER: Mapping[str, Schema] = {
    **VERSIONS,
    **SETTINGS,
    **{name: schema for name, schema in TRACKED.items() if name != "serial_no"},
    **MORE,
    **{alias: SETTINGS[name] for alias, name in ALIASES.items()},
}
INFO: Schema = exactly(CLUSTER)
