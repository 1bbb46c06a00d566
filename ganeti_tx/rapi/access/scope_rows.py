"""Which instances, nodes and jobs are in somebody's scopes, found out from the configuration through LUXI."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.rapi.access.opcode_rules import instances_of
from ganeti_tx.rapi.caller import Caller

#: The fields of instances by which scopes are judged.
SCOPE_FIELDS = ("name", "tags", "pnode.group")
#: The entry of a reason trail that says who asked for a job.
CALLER_SOURCE = "gnt:rapi:caller"

Ops = Sequence[Mapping[str, Any]]


@frozen
class ScopeRows:
    """What is within the scopes of one caller."""

    luxi: AsyncCalls
    caller: Caller

    @property
    def tags(self) -> frozenset[str]:
        """The tags of the scopes."""
        return frozenset(scope.value for scope in self.caller.scopes if scope.kind == "tag")

    @property
    def groups(self) -> frozenset[str]:
        """The node groups of the scopes."""
        return frozenset(scope.value for scope in self.caller.scopes if scope.kind == "group")

    def holds(self, row: Sequence[Any]) -> bool:
        """Whether an instance of these `SCOPE_FIELDS` values is in scope; what is not known is not."""
        _name, tags, group = row
        return (isinstance(tags, list) and not self.tags.isdisjoint(tags)) or group in self.groups

    async def instances(self, names: Collection[str]) -> set[str]:
        """Those of some names that are, to the letter, names of instances in scope."""
        if not names:
            return set()
        rows = await self.luxi.query_instances(sorted(set(names)), SCOPE_FIELDS)
        return {row[0] for row in rows if self.holds(row)} & set(names)

    async def nodes(self, names: Collection[str]) -> set[str]:
        """Those of some names that are, to the letter, names of nodes in a group of the scopes."""
        if not names:
            return set()
        rows = await self.luxi.query_nodes(sorted(set(names)), ["name", "group"])
        return {name for name, group in rows if group in self.groups} & set(names)

    async def jobs(self, jobs: Iterable[Ops | None]) -> list[bool]:
        """Whether each job, by its opcodes, is to be seen: it is the caller's own, or all its instances are in scope."""
        listed = list(jobs)
        named = [[instances_of(op) for op in ops or ()] for ops in listed]
        inside = await self.instances({name for job in named for op in job for name in op})
        return [
            bool(ops) and (self.is_own(ops or ()) or all(op and inside.issuperset(op) for op in job))
            for ops, job in zip(listed, named, strict=True)
        ]

    def is_own(self, ops: Ops) -> bool:
        """Whether the caller himself asked for a job."""
        return bool(ops) and all(
            any(entry[0] == CALLER_SOURCE and entry[1] == self.caller.name for entry in op.get("reason", ()))
            for op in ops
        )
