"""Reading config.data of this and of older versions; one of a later version is refused."""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import msgspec
from msgspec.structs import replace

from ganeti_tx.config.defaults import CLUSTER_DEFAULTS, GROUP_DEFAULTS, INSTANCE_DEFAULTS, NODE_DEFAULTS
from ganeti_tx.errors import ConfigurationError, ConfigVersionMismatch
from ganeti_tx.model.config_data import CONFIG_VERSION, ConfigData, containers, decode
from ganeti_tx.model.decoding import read_json

#: The oldest version that refers to nodes, groups and disks by uuid, as this program does.
OLDEST_VERSION = 2000000

#: Keys that older versions wrote and nobody reads any more (Ganeti 3.0 configuration table, legacy slots).
CLUSTER_LEGACY = ("default_bridge", "default_hypervisor")
NODE_LEGACY = ("hv_state", "disk_state")
INSTANCE_LEGACY = ("secondary_nodes", "disks_info", "disk_template")
DISK_LEGACY = ("dynamic_params", "pci", "hvinfo")
NIC_LEGACY = ("netinfo", "pci", "hvinfo")


@attrs.frozen
class ReadConfig:
    """What was read: the configuration as of now, the version it was written with, and whether that was another."""

    config: ConfigData
    version: int

    @property
    def upgraded(self) -> bool:
        """Whether it should be written back."""
        return self.version != CONFIG_VERSION


class _Version(msgspec.Struct):
    """The one key that is looked at before all others."""

    version: int | None = None


def read_config(data: bytes) -> ReadConfig:
    """The configuration in the text of config.data.

    @raise ConfigurationError: no JSON, or the path of the first offending key.
    @raise ConfigVersionMismatch: a later version, or one older than 2.0.
    """
    version = version_of(data)
    if version == CONFIG_VERSION:
        return ReadConfig(completed(decode(data)), version)
    raw = read_json(data)
    upgrade(raw)
    return ReadConfig(completed(decode(msgspec.json.encode(raw))), version)


def version_of(data: bytes) -> int:
    """The version a configuration was written with, if it is one that can be read."""
    try:
        version = msgspec.json.decode(data, type=_Version).version
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"the configuration cannot be read: {error}") from None
    if version is None:
        raise ConfigurationError("the configuration cannot be read: it has no version")
    if not OLDEST_VERSION <= version <= CONFIG_VERSION:
        raise ConfigVersionMismatch(CONFIG_VERSION, version)
    return version


def upgrade(raw: dict[str, Any]) -> None:
    """Bring an older configuration, as dicts and lists, to the present shape, in place."""
    raw["version"] = CONFIG_VERSION
    for container in containers():
        raw.setdefault(container, {})
    cluster = raw.get("cluster")
    if isinstance(cluster, dict):
        fill([cluster], CLUSTER_DEFAULTS, CLUSTER_LEGACY)
    fill(objects(raw, "nodes"), NODE_DEFAULTS, NODE_LEGACY)
    fill(objects(raw, "nodegroups"), GROUP_DEFAULTS, ())
    for instance in list(objects(raw, "instances")):
        take_disks_out(raw, instance)
        fill([instance], INSTANCE_DEFAULTS, INSTANCE_LEGACY)
        fill((nic for nic in instance.get("nics") or () if isinstance(nic, dict)), {"nicparams": {}}, NIC_LEGACY)
    drop_from_disks(objects(raw, "disks"))


def objects(raw: dict[str, Any], container: str) -> Iterable[dict[str, Any]]:
    """The objects of a container; what is none is left to the decoder's judgement."""
    held = raw[container]
    return [each for each in held.values() if isinstance(each, dict)] if isinstance(held, dict) else []


def fill(held: Iterable[dict[str, Any]], defaults: Mapping[str, Any], legacy: Iterable[str]) -> None:
    """Give objects the keys they lack and take those that are no more."""
    for each in held:
        for key in legacy:
            each.pop(key, None)
        for key, value in defaults.items():
            each.setdefault(key, value)


def take_disks_out(raw: dict[str, Any], instance: dict[str, Any]) -> None:
    """Versions before 2.14 kept the disks inside their instance; now it names them, and they stand by themselves."""
    disks = instance.get("disks") or []
    if not isinstance(disks, list) or not all(isinstance(disk, dict) and "uuid" in disk for disk in disks):
        return
    for disk in disks:
        disk.setdefault("serial_no", 1)
        raw["disks"][disk["uuid"]] = disk
    instance["disks"] = [disk["uuid"] for disk in disks]


def drop_from_disks(disks: Iterable[dict[str, Any]]) -> None:
    """Disks, and those they are made of."""
    for disk in disks:
        fill([disk], {"serial_no": 1, "uuid": ""}, DISK_LEGACY)
        drop_from_disks(child for child in disk.get("children") or () if isinstance(child, dict))


def completed(config: ConfigData) -> ConfigData:
    """With what follows from the rest, and what other versions do not write."""
    return with_default_group(with_members(config))


def with_default_group(config: ConfigData) -> ConfigData:
    """The cluster's default group, if it names one that is there; else that of the master."""
    master = config.nodes.get(config.cluster.master_node)
    if config.cluster.default_group in config.nodegroups or master is None:
        return config
    return replace(config, cluster=replace(config.cluster, default_group=master.group))


def with_members(config: ConfigData) -> ConfigData:
    """The groups' lists of members, which follow from the nodes."""
    members: dict[str, list[str]] = {uuid: [] for uuid in config.nodegroups}
    for node in config.nodes.values():
        members.setdefault(node.group, []).append(node.uuid)
    groups = {
        uuid: group if list(group.members) == (own := sorted(members[uuid])) else replace(group, members=tuple(own))
        for uuid, group in config.nodegroups.items()
    }
    return replace(config, nodegroups=groups)
