"""What was recorded of Ganeti 3.0.2, compared with what a cluster in this process does."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put

#: The recorded cluster's names and addresses, and what they are in this one.
RENAMED = (
    ("qa.test", "example.com"),
    ("198.18.0.100", "192.0.2.100"),
    ("198.18.0.0", "192.0.2.0"),
    ("198.18.0.255", "192.0.2.255"),
    ("198.18.0.1", "192.0.2."),
    ("198.19.0.1", "192.0.2."),
)
#: What is another one in each cluster: how it looks, by the first word of its placeholder.
FORMS = {
    "UUID": r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "MAC": r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}",
    "TIME": r"[0-9]+\.[0-9]+",
}
PLACEHOLDER = re.compile(r"<([A-Z]+)[^>]*>")


def here(text: str) -> str:
    """A recorded text as it is to be in this cluster."""
    for there, now in RENAMED:
        text = text.replace(there, now)
    return text


def same(name: str, recorded: str, found: str) -> bool:
    """Whether a value is the recorded one, or one of its kind; tags have no order, and groups have their names here."""
    if name.endswith("_TAGS"):
        return sorted(recorded.split()) == sorted(found.split())
    if name.endswith("GROUP_NAME") and recorded.startswith("<UUID group "):
        return found == recorded.removeprefix("<UUID group ").removesuffix(">")
    pieces = PLACEHOLDER.split(here(recorded))
    pattern = "".join(FORMS[piece] if place % 2 else re.escape(piece) for place, piece in enumerate(pieces))
    return re.fullmatch(pattern, found) is not None


def differences(recorded: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """The variables that are missing, that are too many, and that have another value."""
    recorded = {here(name): value for name, value in recorded.items()}
    missing = [f"{name} is missing" for name in recorded if name not in found]
    more = [f"{name}={value} is too much" for name, value in found.items() if name not in recorded]
    other = [
        f"{name} is {found[name]!r}, not {here(value)!r}"
        for name, value in recorded.items()
        if name in found and not same(name, value, found[name])
    ]
    return [*missing, *more, *other]


def lines(file: str) -> list[dict[str, Any]]:
    """The lines of a record."""
    return [json.loads(line) for line in (Path(__file__).parent / "facts" / file).read_text().splitlines()]


def prepare(cluster: InProcessCluster) -> None:
    """Have the recorded instances' names and the recorded bridge on all nodes, and an allocator that finds nothing."""
    put(cluster.master.disk, cluster.paths.iallocator_search_path[0] / "hail", b"#!/bin/sh\n", 0o755)
    hosts = "".join(f"192.0.2.{60 + number} inst{number}.example.com\n" for number in range(1, 9)).encode()
    for node in cluster.nodes.values():
        put(node.disk, cluster.paths.etc_hosts, node.disk.read(cluster.paths.etc_hosts, 1 << 16) + hosts)
        node.disk.mkdir(Path("/sys/class/net/br0/bridge"))
