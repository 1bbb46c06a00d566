"""How answers look for people: a line for each thing, words with single spaces between."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ganeti_tx.confd.messages import DrbdMinor, NodeRole, Status
from ganeti_tx.confd.questions import Collector, MasterFacts, NodeInstances, Object, OneOfMany

MICROSECONDS = 1_000_000


def one(value: object) -> list[str]:
    """A single word or number."""
    return [str(value)]


def each(values: Iterable[str]) -> list[str]:
    """A list of words."""
    return list(values)


def role(value: NodeRole) -> list[str]:
    """A role in one word."""
    return [value.name.lower()]


def master(facts: MasterFacts) -> list[str]:
    """The master's name and the two addresses."""
    return [" ".join(facts)]


def node_ips(asked: list[str], found: list[OneOfMany]) -> list[str]:
    """Each address with its node's."""
    return [
        f"{ip} {one.answer if one.status == Status.OK else 'unknown'}" for ip, one in zip(asked, found, strict=True)
    ]


def minors(found: list[DrbdMinor]) -> list[str]:
    """Minor, instance, disk, role here, and where the other half is."""
    return [f"{each.minor} {each.instance} {each.disk} {each.role} {each.peer}" for each in found]


def instances(found: NodeInstances) -> list[str]:
    """The role of the node for each instance, and its name."""
    primary = [f"primary {each.get('name')}" for each in found.primary]
    return primary + [f"secondary {each.get('name')}" for each in found.secondary]


def disks(found: list[Object]) -> list[str]:
    """Number, template, size in MiB and uuid."""
    return [f"{at} {each.get('dev_type')} {each.get('size')} {each.get('uuid')}" for at, each in enumerate(found)]


def collectors(found: Mapping[str, Collector]) -> list[str]:
    """Name, whether it runs, and every how many seconds."""
    return [
        f"{name} {'active' if each.active else 'inactive'} {each.interval / MICROSECONDS:g}"
        for name, each in sorted(found.items())
    ]


def plain(value: Any) -> list[str]:
    """Text as it is; all else as JSON, indented."""
    return [value if isinstance(value, str) else json_text(value)]


def json_text(value: Any) -> str:
    """Indented JSON."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
