"""Which instances, nodes and jobs are in somebody's scopes, found out from the configuration through LUXI."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.model.scope import Scopes
from ganeti_tx.model.signature import Ops
from ganeti_tx.model.taken_names import hosts_called
from ganeti_tx.rapi.access.judged_jobs import AT_ONCE, KEY_FIELDS, JudgedJob, RememberedJobs, judged
from ganeti_tx.rapi.caller import Caller

#: The fields of instances by which scopes are judged.
SCOPE_FIELDS = ("name", "tags", "pnode.group")


@frozen
class ScopeRows:
    """What is within the scopes of one caller."""

    luxi: AsyncCalls
    caller: Caller
    remembered: RememberedJobs

    @property
    def scopes(self) -> Scopes:
        """What he is kept to."""
        return Scopes(self.caller.scopes)

    def holds(self, row: Sequence[Any]) -> bool:
        """Whether an instance of these `SCOPE_FIELDS` values is in scope; what is not known is not."""
        _name, tags, group = row
        return self.scopes.hold(tags if isinstance(tags, list) else [], group)

    async def instances(self, names: Collection[str]) -> set[str]:
        """Those of some names that are, to the letter, names of instances in scope."""
        if not names:
            return set()
        rows = await self.luxi.query_instances(sorted(set(names)), SCOPE_FIELDS)
        return {row[0] for row in rows if self.holds(row)} & set(names)

    async def all_instances(self, field: str) -> list[str]:
        """That field of all instances in scope."""
        rows = await self.luxi.query_instances([], [field, *SCOPE_FIELDS])
        return [row[0] for row in rows if self.holds(row[1:])]

    async def all_jobs(self, archived: bool) -> list[int]:
        """The ids of all jobs that are to be seen. @param archived: of those in the archive, too"""
        if archived:
            return await self._all_with_archived()
        rows = await self.luxi.query_jobs(None, KEY_FIELDS)
        seen = await self._seen(await self.remembered.of(rows))
        return [row[0] for row, is_seen in zip(rows, seen, strict=True) if is_seen]

    async def _all_with_archived(self) -> list[int]:
        """Some at a time, so that others are answered between. The list of numbers alone has no file opened."""
        listed = await self.luxi.query("job", ["id", "archived"])
        ids = [row[0][1] for row in listed["data"]]
        found: list[int] = []
        for start in range(0, len(ids), AT_ONCE):
            part = ids[start : start + AT_ONCE]
            seen = await self._seen(await self.remembered.of_numbers(part))
            found += [job_id for job_id, is_seen in zip(part, seen, strict=True) if is_seen]
        return found

    async def nodes(self, names: Collection[str]) -> set[str]:
        """Those of some names that are, to the letter, names of nodes in a group of the scopes."""
        if not names:
            return set()
        rows = await self.luxi.query_nodes(sorted(set(names)), ["name", "group"])
        return {name for name, group in rows if group in self.scopes.groups} & set(names)

    async def hosts(self, names: Collection[str]) -> set[str]:
        """Those of some names that are hosts', as `hosts_called` says."""
        if not names:
            return set()
        rows = await self.luxi.query_nodes([], ["name"])
        cluster = (await self.luxi.query_cluster_info())["name"]
        return set(hosts_called(names, [cluster, *(row[0] for row in rows)]))

    async def jobs(self, jobs: Iterable[Ops | None]) -> list[bool]:
        """Whether each job, by its opcodes, is to be seen: it is the caller's own, or all its instances are in scope."""
        return await self._seen([judged(ops) for ops in jobs])

    async def _seen(self, jobs: Sequence[JudgedJob]) -> list[bool]:
        inside = await self.instances({name for job in jobs for names in job.instances for name in names})
        return [job.is_seen(self.caller, inside) for job in jobs]

    def is_own(self, ops: Ops) -> bool:
        """Whether a job is the caller's own."""
        return judged(ops).is_own(self.caller)
