"""What objects of older versions lack, and the keys of theirs that are no more."""

from typing import Any

from msgspec import to_builtins

from ganeti_tx.config.defaults import CLUSTER_DEFAULTS, GROUP_DEFAULTS, NODE_DEFAULTS
from ganeti_tx.config.older.raw import Raw, fill, mapping, objects, uuid_of
from ganeti_tx.model.disk_templates import BY_DEFAULT, TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.settings.collectors import COLLECTORS, DEFAULT_COLLECTOR

#: Keys that nobody reads any more (reference: config.json, legacy slots).
CLUSTER_LEGACY = ("default_bridge", "default_hypervisor")
NODE_LEGACY = ("hv_state", "disk_state")
INSTANCE_LEGACY = ("secondary_nodes", "disks_info", "disk_template")
NIC_LEGACY = ("netinfo", "pci", "hvinfo")
#: Until 3.0 there was nothing else.
OLD_SSH_KEYS = {"ssh_key_type": "dsa", "ssh_key_bits": 1024}
#: The setting that the templates of logical volumes take.
VOLUME_GROUP = "volume_group_name"


def fill_defaults(raw: Raw) -> None:
    """Every key of today; no key of then. The disks stand by themselves already."""
    cluster = raw.get("cluster")
    if isinstance(cluster, dict):
        enable_templates(cluster, in_use(raw))
        fill([cluster], {**CLUSTER_DEFAULTS, **OLD_SSH_KEYS}, CLUSTER_LEGACY)
        fill([mapping(cluster, "data_collectors")], {name: to_builtins(DEFAULT_COLLECTOR) for name in COLLECTORS})
    fill(objects(raw, "nodes"), NODE_DEFAULTS, NODE_LEGACY)
    fill(objects(raw, "nodegroups"), GROUP_DEFAULTS)
    for instance in objects(raw, "instances"):
        fill([instance], instance_defaults(instance), INSTANCE_LEGACY)
        for index, nic in enumerate(objects(instance, "nics")):
            fill([nic], {"nicparams": {}, "uuid": uuid_of(instance, f"nic/{index}")}, NIC_LEGACY)


def instance_defaults(instance: Raw) -> Raw:
    """Those that depend on what it is: the disks of one that is meant to run are in use."""
    return {"admin_state_source": "admin", "disks_active": instance.get("admin_state") == "up"}


def in_use(raw: Raw) -> list[Any]:
    """The templates of the disks that there are, and of instances without any."""
    said = [each.get("disk_template") for each in objects(raw, "instances")]
    return said + [disk.get("dev_type") for disk in objects(raw, "disks")]


def enable_templates(cluster: Raw, used: list[Any]) -> None:
    """Before 2.8 nobody said which are allowed: those that every cluster had, and those in use. The policy names no others."""
    volumes = bool(cluster.get(VOLUME_GROUP))
    usual = {word for word in BY_DEFAULT if volumes or TEMPLATES[word].pool != VOLUME_GROUP}
    enabled = cluster.setdefault(
        "enabled_disk_templates", [word.value for word in DiskTemplate if word in usual or word.value in used]
    )
    policy = mapping(cluster, "ipolicy")
    named = policy.get("disk-templates")
    if isinstance(named, list) and isinstance(enabled, list):
        policy["disk-templates"] = [word for word in named if word in enabled] or named
