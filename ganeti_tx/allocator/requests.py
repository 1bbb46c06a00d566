"""What an allocator may be asked for, and what it has to answer to each (Ganeti 3.0 allocator table, requests)."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec

from ganeti_tx.errors import OpExecError

R = TypeVar("R", covariant=True)


class Request(Protocol[R]):
    """One request: a Struct whose fields are those on the wire, answered by an R."""

    def read(self, result: object) -> R:
        """The result, checked. @raise OpExecError: it is not what was asked for."""


class Allocate(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="allocate"):
    """Nodes for a new instance, the primary one first; memory and disks are in MiB.

    @ivar required_nodes: so many.
    @ivar restrict_to_nodes: names of those that may be chosen; all, if nothing is said.
    """

    name: str
    memory: int
    vcpus: int
    spindle_use: int
    os: str
    hypervisor: str
    disk_template: str
    disks: Sequence[Mapping[str, Any]]
    disk_space_total: int
    nics: Sequence[Mapping[str, Any]]
    tags: Sequence[str]
    required_nodes: int
    group_name: str | None = None
    restrict_to_nodes: list[str] | msgspec.UnsetType = msgspec.field(name="restrict-to-nodes", default=msgspec.UNSET)

    def read(self, result: object) -> list[str]:
        """The nodes."""
        return names(result, self.required_nodes)


class Relocate(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="relocate"):
    """Another node for an instance in the place of one, in the same group."""

    name: str
    disk_space_total: int
    relocate_from: Sequence[str]
    required_nodes: int = 1

    def read(self, result: object) -> list[str]:
        """The node."""
        return names(result, self.required_nodes)


def names(result: object, wanted: int) -> list[str]:
    """So many names of nodes. @raise OpExecError: something else."""
    try:
        found = msgspec.convert(result, list[str])
    except msgspec.ValidationError as error:
        raise OpExecError(f"a list of node names was expected: {error}") from None
    if len(found) != wanted or len(set(found)) != wanted:
        raise OpExecError(f"{wanted} different node names were expected, got {len(found)}: {', '.join(found)[:1000]}")
    return found
