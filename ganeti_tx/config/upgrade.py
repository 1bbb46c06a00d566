"""Reading config.data of this and of older versions; one of a later version is refused."""

from typing import Any

import attrs
import msgspec
from msgspec.structs import replace

from ganeti_tx.config.older.defaults import fill_defaults
from ganeti_tx.config.older.disks import take_disks_out
from ganeti_tx.config.older.numbers import count_parameters
from ganeti_tx.config.older.parameters import name_parameters
from ganeti_tx.config.older.policies import bound_in_pairs
from ganeti_tx.config.older.references import refer_by_uuid
from ganeti_tx.config.older.unknown import drop_unknown
from ganeti_tx.errors import ConfigurationError, ConfigVersionMismatch
from ganeti_tx.model.config_data import CONFIG_VERSION, ConfigData, containers, decode
from ganeti_tx.model.decoding import read_json
from ganeti_tx.model.hypervisors import CLUSTER_ONLY
from ganeti_tx.model.params.hypervisor import without_global
from ganeti_tx.model.whole_numbers import shape_of

#: Ganeti's own tool takes none that is older (reference: config-history.json).
OLDEST_VERSION = 2000000

#: In this order.
STEPS = (refer_by_uuid, bound_in_pairs, name_parameters, count_parameters, take_disks_out, fill_defaults)


@attrs.frozen
class ReadConfig:
    """What was read: the configuration as of now, the version it was written with, and whether that was another.

    @ivar dropped: the paths of keys of an older version that none knows any more.
    """

    config: ConfigData
    version: int
    dropped: tuple[str, ...] = ()

    @property
    def upgraded(self) -> bool:
        """Whether it should be written back."""
        return self.version != CONFIG_VERSION


class _Version(msgspec.Struct):
    """The one key that is looked at before all others."""

    version: int | float | None = None


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
    dropped = tuple(drop_unknown(raw, shape_of(ConfigData)))
    return ReadConfig(completed(decode(msgspec.json.encode(raw))), version, dropped)


def version_of(data: bytes) -> int:
    """The version a configuration was written with, if it is one that can be read."""
    try:
        version = msgspec.json.decode(data, type=_Version).version
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError(f"the configuration cannot be read: {error}") from None
    if version is None:
        raise ConfigurationError("the configuration cannot be read: it has no version")
    if not OLDEST_VERSION <= version <= CONFIG_VERSION:
        raise ConfigVersionMismatch(CONFIG_VERSION, version)
    if version != int(version):
        raise ConfigurationError(f"the configuration cannot be read: its version is {version}, and not a whole number")
    return int(version)


def upgrade(raw: Any) -> None:
    """Bring an older configuration, as dicts and lists, to the present shape, in place."""
    if not isinstance(raw, dict):
        return
    raw["version"] = CONFIG_VERSION
    for container in containers():
        raw.setdefault(container, {})
    for step in STEPS:
        step(raw)


def completed(config: ConfigData) -> ConfigData:
    """With what follows from the rest, and what other versions do not write; without what counts for nothing."""
    return with_default_group(with_members(with_cluster_only_at_the_cluster(config)))


def with_cluster_only_at_the_cluster(config: ConfigData) -> ConfigData:
    """Hypervisor parameters that only the cluster sets are dropped from operating systems and instances (design-2.1,
    "Global hypervisor parameters": a restart of the master is all that is needed)."""
    cleaned = {
        uuid: replace(instance, hvparams=without_global(instance.hvparams))
        for uuid, instance in config.instances.items()
        if not CLUSTER_ONLY.isdisjoint(instance.hvparams)
    }
    instances = {**config.instances, **cleaned} if cleaned else config.instances
    held = config.cluster.os_hvp
    os_hvp = {os: {kind: without_global(params) for kind, params in kinds.items()} for os, kinds in held.items()}
    return replace(config, instances=instances, cluster=replace(config.cluster, os_hvp=os_hvp))


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
