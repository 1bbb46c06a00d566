"""The whole configuration: one object, kept as JSON."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import fields

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.base import Tracked
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.decoding import from_builtins, read_json
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_templates import WITHOUT_DISKS
from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.network import Network
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.whole_numbers import shape_of, whole

#: major * 1000000 + minor * 10000 + revision
CONFIG_VERSION = 3000000
#: 64 MiB; some 2,000 instances take 5.
MAX_CONFIG_BYTES = 64 * 1024 * 1024


class ConfigData(Tracked, frozen=True, kw_only=True):
    """Everything a cluster knows of itself; each container is keyed by the uuid of what it holds."""

    version: int
    cluster: Cluster
    nodes: Mapping[str, Node]
    nodegroups: Mapping[str, NodeGroup]
    instances: Mapping[str, Instance]
    networks: Mapping[str, Network]
    disks: Mapping[str, Disk]
    filters: Mapping[str, FilterRule]


DECODER = msgspec.json.Decoder(ConfigData)
ENCODER = msgspec.json.Encoder(order="deterministic")

#: What an object that is only reserved yet ("forthcoming") reads as where keys lack.
FORTHCOMING_INSTANCE: Mapping[str, object] = {
    "name": "",
    "primary_node": "",
    "os": "",
    "hypervisor": "fake",
    "admin_state": "down",
    "admin_state_source": "admin",
    "disks_active": False,
    "serial_no": 0,
}
FORTHCOMING_DISK: Mapping[str, object] = {"dev_type": WITHOUT_DISKS.value, "logical_id": [], "size": 0, "serial_no": 0}


def decode(data: bytes) -> ConfigData:
    """The configuration in JSON text.

    @raise ConfigurationError: too long, no JSON, or the path of the first offending key and what is wrong with it.
    """
    check_size(data)
    try:
        return DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return from_builtins(whole(with_forthcoming(read_json(data)), shape_of(ConfigData)), ConfigData)


def check_size(data: bytes) -> None:
    """What is written must be what can be read again. @raise ConfigurationError: it is too long"""
    if len(data) > MAX_CONFIG_BYTES:
        raise ConfigurationError(f"configuration of {len(data)} bytes is larger than the allowed {MAX_CONFIG_BYTES}")


def encode(config: ConfigData) -> bytes:
    """The configuration as JSON text; the same configuration gives the same bytes."""
    return ENCODER.encode(config)


def with_forthcoming(raw: Any) -> Any:
    """Fills what forthcoming instances and disks may lack, in place; all else is left to the decoder's judgement."""
    for container, lacking in (("instances", FORTHCOMING_INSTANCE), ("disks", FORTHCOMING_DISK)):
        held = raw.get(container) if isinstance(raw, dict) else None
        if isinstance(held, dict):
            for uuid, thing in held.items():
                if isinstance(thing, dict) and thing.get("forthcoming") is True:
                    held[uuid] = {**lacking, "uuid": uuid, **thing}
    return raw


def containers() -> tuple[str, ...]:
    """The names of the fields that hold objects by uuid."""
    return tuple(field.name for field in fields(ConfigData) if field.name not in {"version", "cluster", *TRACKING})


TRACKING = frozenset(field.name for field in fields(Tracked))
