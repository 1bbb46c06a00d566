"""LUXI as a scoped user sees it: what is not his is not there, and nothing else can be asked.

Every operation reaches the cluster through LUXI, so this is the one place where scopes are enforced: requests are
judged as the opcodes and queries that they have become.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from attrs import define, field

from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.rapi.access.judged_jobs import RememberedJobs
from ganeti_tx.rapi.access.opcode_rules import refusal
from ganeti_tx.rapi.access.scope_rows import ScopeRows
from ganeti_tx.rapi.access.scoped_jobs import JobCheck
from ganeti_tx.rapi.caller import Caller
from ganeti_tx.rapi.http.http_errors import not_found
from ganeti_tx.rapi.operations.operation import Operation

Rows = list[Any]

#: Resources that show nothing of the cluster, and those of which everything goes through `ScopedCalls`.
STATIC = frozenset({"root", "2", "version", "features", "openapi"})
JUDGED_RESOURCES = ("instances", "jobs", "query", "os", "events")

#: Rows that are named in one query; luxid takes 20,000 terms.
AT_ONCE = 10_000
#: The filter that lets everything pass.
_ANY = ["&"]


def can_be_judged(operation: Operation) -> bool:
    """Whether an operation may be begun by somebody who has scopes; all that is new is refused until it is listed."""
    return operation.resource in STATIC or operation.resource.partition("_")[0] in JUDGED_RESOURCES


@define
class ScopedCalls(AsyncCalls):
    """Judges each call; a method that is not known here is refused."""

    luxi: AsyncCalls
    caller: Caller
    remembered: RememberedJobs
    _rows: ScopeRows = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._rows = ScopeRows(self.luxi, self.caller, self.remembered)

    async def call(self, method: str, args: list[Any]) -> Any:
        """As AsyncClient.call says. @raise HttpError: 403, 404"""
        judged = _METHODS.get(method)
        if judged is None:
            raise refusal(f"ask the master for {method}")
        return await judged(self, *args)

    async def _submit_job(self, ops: Sequence[dict[str, Any]]) -> int:
        return await self.luxi.submit_job(await JobCheck(self._rows).checked(ops))

    async def _cancel_job(self, job_id: int | str, kill: bool = False) -> Rows:
        """His own only: a job that somebody else wants done on his instances is for somebody else to cancel."""
        ops = await self._seen_job(job_id)
        if not self._rows.is_own(ops):
            raise refusal("cancel jobs of others")
        return await self.luxi.cancel_job(job_id, kill)

    async def _wait_for_job_change(self, job_id: int | str, *rest: Any) -> Any:
        await self._seen_job(job_id)
        return await self.luxi.call("WaitForJobChange", [job_id, *rest])

    async def _seen_job(self, job_id: int | str) -> Any:
        """The opcodes of a job that he may see. @raise HttpError: 404"""
        ((ops,),) = await self.luxi.query_jobs([job_id], ["ops"])
        if not all(await self._rows.jobs([ops])):
            raise not_found(f"there is no job {job_id}")
        return ops

    async def _query_jobs(self, job_ids: Sequence[int | str] | None, fields: Sequence[str]) -> Rows:
        """Those he sees; others that he asks for look as if they were not there."""
        if not job_ids:
            inside = await self._rows.all_jobs("archived" in fields)
            rows = await self.luxi.query_jobs(inside, [*fields, "status"]) if inside else []
            return [row[:-1] for row in rows if row[-1] is not None]
        rows = await self.luxi.query_jobs(job_ids, [*fields, "ops"])
        seen = await self._rows.jobs(row[-1] for row in rows)
        return [
            row[:-1] if is_seen else [int(job_id) if name == "id" else None for name in fields]
            for job_id, row, is_seen in zip(job_ids, rows, seen, strict=True)
        ]

    async def _query_instances(self, names: Sequence[str], fields: Sequence[str], _locking: bool = False) -> Rows:
        inside = await (self._rows.instances(names) if names else self._rows.all_instances("name"))
        return await self.luxi.query_instances(sorted(inside), fields) if inside else []

    async def _query_tags(self, kind: str, name: str = "") -> list[str]:
        if kind != "instance":
            raise refusal("read tags of anything but instances")
        if not await self._rows.instances([name]):
            raise not_found(f"there is no instance '{name}'")
        return await self.luxi.query_tags(kind, name)

    async def _query_fields(self, resource: str, fields: Sequence[str] | None = None) -> dict[str, Any]:
        return await self.luxi.query_fields(resource, fields)

    async def _query(
        self, resource: str, fields: Sequence[str], query_filter: list[Any] | None = None
    ) -> dict[str, Any]:
        """Of instances and jobs only. What is not in scope is left out before a filter is asked about it: errors would tell
        of values, and time would.
        """
        inside: Sequence[str | int]
        if resource == "instance":
            key, inside = "uuid", await self._rows.all_instances("uuid")
        elif resource == "job":
            archived = mentions(query_filter, "archived") or "archived" in fields
            key, inside = "id", await self._rows.all_jobs(archived)
        else:
            raise refusal(f"query anything but instances and jobs, such as '{resource}'")
        asked = _ANY if query_filter is None else query_filter
        answers = [
            await self.luxi.query(resource, fields, ["&", ["|", *(["=", key, each] for each in part)], asked])
            for part in parts_of(inside)
        ]
        rows = [row for answer in answers for row in answer["data"]]
        return {**answers[0], "data": rows}


def parts_of(inside: Sequence[str | int]) -> Sequence[Sequence[str | int]]:
    """So many at once that a filter may have them, with some of the caller's own terms; one part if there is nothing."""
    return [inside[at : at + AT_ONCE] for at in range(0, len(inside), AT_ONCE)] or [()]


def mentions(query_filter: object, field: str) -> bool:
    """Whether a filter may look at a field."""
    waiting = [query_filter]
    while waiting:
        term = waiting.pop()
        if term == field:
            return True
        if isinstance(term, list):
            waiting.extend(term)
    return False


_METHODS: Mapping[str, Callable[..., Awaitable[Any]]] = {
    "SubmitJob": ScopedCalls._submit_job,
    "CancelJob": ScopedCalls._cancel_job,
    "WaitForJobChange": ScopedCalls._wait_for_job_change,
    "QueryJobs": ScopedCalls._query_jobs,
    "QueryInstances": ScopedCalls._query_instances,
    "QueryTags": ScopedCalls._query_tags,
    "QueryFields": ScopedCalls._query_fields,
    "Query": ScopedCalls._query,
}
