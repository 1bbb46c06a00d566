"""Names of what a cluster has, quickly and without a word where they cannot be had.

Nodes keep the most wanted ones in simple configuration, for the rest the master is asked, who must answer at once.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from ganeti_tx.cli.completion.offer import MOST, Candidate
from ganeti_tx.cli.progress import GOES_ON
from ganeti_tx.cli.session import SOCKET, rooted
from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.client import Client
from ganeti_tx.model.search_paths import OS_DEFINITIONS

#: Seconds that the master has for an answer; somebody waits for the keyboard.
LIMIT = 0.8
_SSCONF = "/var/lib/ganeti/ssconf_"
_MAX_FILE = 4 * 2**20
_MAX_DEFINITIONS = 1000
#: In which file a kind's names are, and in which column.
_FILES = {
    "group": ("nodegroups", 1),
    "instance": ("instance_list", 0),
    "network": ("networks", 1),
    "node": ("node_list", 0),
}


class INames(Protocol):
    """Where names come from; every answer is empty when it cannot be had."""

    def of_kind(self, kind: str) -> list[Candidate]:
        """The names of all of a kind: instance, node, group, network, os, filter, job (all) or running (not ended)."""

    def fields(self, resource: str) -> list[Candidate]:
        """The fields of a resource."""

    def tags(self, kind: str, name: str) -> list[Candidate]:
        """The tags that an object has."""


class ClusterNames:
    """The names of the cluster that this machine is in."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def of_kind(self, kind: str) -> list[Candidate]:
        """As INames says."""
        if kind in _FILES:
            return self._of_file(*_FILES[kind])
        if kind == "os":
            return list(self._definitions())
        return self._asked(lambda client: list(_QUERIES[kind](client)))

    def fields(self, resource: str) -> list[Candidate]:
        """As INames says."""
        return self._asked(
            lambda client: [
                Candidate(each["name"], each["doc"]) for each in client.query_fields(resource, None)["fields"]
            ]
        )

    def tags(self, kind: str, name: str) -> list[Candidate]:
        """As INames says."""
        return self._asked(lambda client: [Candidate(tag) for tag in client.query_tags(kind, name)])

    def _asked(self, ask: Callable[[Client], list[Candidate]]) -> list[Candidate]:
        path = rooted(self._environ, SOCKET)
        with Client(path, connect_timeout=LIMIT / 2, io_timeout=LIMIT, answer_timeout=LIMIT) as client:
            try:
                return ask(client)
            except (GanetiError, OSError):
                return []

    def _of_file(self, name: str, column: int) -> list[Candidate]:
        lines = _text(rooted(self._environ, f"{_SSCONF}{name}")).splitlines()
        return [Candidate(line.split(" ", column)[column]) for line in lines[:MOST] if line.count(" ") >= column]

    def _definitions(self) -> Iterator[Candidate]:
        """The OS definitions of this node with their variants."""
        for directory in OS_DEFINITIONS:
            parent = rooted(self._environ, f"/{directory}")
            for name in _listed(parent):
                if os.path.exists(os.path.join(parent, name, "ganeti_api_version")):
                    variants = _text(os.path.join(parent, name, "variants.list")).split()
                    yield from (Candidate(f"{name}+{variant}") for variant in variants if not variant.startswith("#"))
                    if not variants:
                        yield Candidate(name)


def _jobs(client: Client, condition: list[Any] | None) -> Iterator[Candidate]:
    for id_cell, status, summary in client.query("job", ["id", "status", "summary"], condition)["data"]:
        yield Candidate(str(id_cell[1]), f"{status[1]} {' '.join(map(str, summary[1] or ()))}")


def _filters(client: Client) -> Iterator[Candidate]:
    for uuid, action in client.query("filter", ["uuid", "action"], None)["data"]:
        yield Candidate(str(uuid[1]), str(action[1]))


_QUERIES: Mapping[str, Callable[[Any], Iterator[Candidate]]] = {
    "filter": _filters,
    "job": lambda client: _jobs(client, None),
    "running": lambda client: _jobs(client, GOES_ON),
}


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MAX_FILE)
    except OSError:
        return ""


def _listed(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))[:_MAX_DEFINITIONS]
    except OSError:
        return []
