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


class AllocateSecondary(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="allocate-secondary"):
    """A secondary node for an instance that has none."""

    name: str

    def read(self, result: object) -> str:
        """The node."""
        try:
            return msgspec.convert(result, str)
        except msgspec.ValidationError as error:
            raise OpExecError(f"the name of a node was expected: {error}") from None


class MultiAllocate(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="multi-allocate"):
    """Nodes for several new instances, one after the other."""

    instances: Sequence[Mapping[str, Any]]

    def read(self, result: object) -> "Placed":
        """The nodes of each, and what did not fit. Each instance must be in one of the two."""
        asked = {str(each["name"]): int(each["required_nodes"]) for each in self.instances}
        try:
            chosen, failed = msgspec.convert(result, tuple[list[tuple[str, list[str]]], list[str | tuple[str, str]]])
        except msgspec.ValidationError as error:
            raise OpExecError(
                f"a list of instances with nodes and one of those that failed were expected: {error}"
            ) from None
        reasons = dict((each, "") if isinstance(each, str) else each for each in failed)
        told = [*(name for name, _nodes in chosen), *reasons]
        if sorted(told) != sorted(asked):
            raise OpExecError(f"instances {', '.join(asked)} were asked for, got {', '.join(told)[:1000]}")
        return Placed(nodes={name: names(nodes, asked[name]) for name, nodes in chosen}, failed=reasons)


def several(requests: Sequence[Allocate]) -> MultiAllocate:
    """One request for several new instances."""
    plain = [msgspec.to_builtins(each) for each in requests]
    return MultiAllocate(instances=[{name: each[name] for name in each if name != "type"} for each in plain])


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes of each new instance, the primary one first, and why others were not placed, as far as that is told."""

    nodes: Mapping[str, list[str]]
    failed: Mapping[str, str]


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


class Evacuation(msgspec.Struct, frozen=True, kw_only=True):
    """How instances get away, as an allocator puts it.

    @ivar moved: (instance, what it comes to: a node or a group, its nodes then). @ivar failed: (instance, why or None).
    @ivar jobs: opcodes on the wire.
    """

    moved: list[tuple[str, str, list[str]]]
    failed: list[tuple[str, str | None]]
    jobs: list[list[dict[str, Any]]]


class NodeEvacuate(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="node-evacuate"):
    """Jobs that bring instances away from the nodes that they run on (primary-only), are mirrored on, or both."""

    instances: Sequence[str]
    evac_mode: str

    def read(self, result: object) -> Evacuation:
        """The jobs."""
        return evacuation(result, self.instances)


class ChangeGroup(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="change-group"):
    """Jobs that bring instances to one of some groups (uuids); to any other one, if none is named."""

    instances: Sequence[str]
    target_groups: Sequence[str]

    def read(self, result: object) -> Evacuation:
        """The jobs."""
        return evacuation(result, self.instances)


def evacuation(result: object, asked: Sequence[str]) -> Evacuation:
    """@raise OpExecError: it is none, or is about other instances than those asked for."""
    try:
        moved, failed, jobs = msgspec.convert(
            result, tuple[list[tuple[str, str, list[str]]], list[tuple[str, str | None]], list[list[dict[str, Any]]]]
        )
    except msgspec.ValidationError as error:
        raise OpExecError(f"lists of instances moved, of others and of jobs were expected: {error}") from None
    told = [*(name for name, _where, _nodes in moved), *(name for name, _why in failed)]
    if strange := sorted(set(told) - set(asked)):
        raise OpExecError(f"instances were not asked about: {', '.join(strange)[:1000]}")
    return Evacuation(moved=moved, failed=failed, jobs=jobs)
