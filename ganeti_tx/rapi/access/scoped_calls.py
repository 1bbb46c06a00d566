"""LUXI as a scoped user sees it: what is not his is not there, and nothing else can be asked.

Every operation reaches the cluster through LUXI, so this is the one place where scopes are enforced: requests are
judged as the opcodes and queries that they have become.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from attrs import define, field

from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.rapi.access.opcode_rules import refusal
from ganeti_tx.rapi.access.scope_rows import SCOPE_FIELDS, ScopeRows
from ganeti_tx.rapi.access.scoped_jobs import JobCheck
from ganeti_tx.rapi.caller import Caller
from ganeti_tx.rapi.http.http_errors import not_found
from ganeti_tx.rapi.operations.operation import Operation

Rows = list[Any]

#: Resources that show nothing of the cluster, and those of which everything goes through `ScopedCalls`.
STATIC = frozenset({"root", "2", "version", "features", "openapi"})
JUDGED_RESOURCES = ("instances", "jobs", "query", "os", "events")

#: Filters that let everything pass.
_ANY = {"instance": ["!=", "name", ""], "job": ["!=", "id", 0]}


def can_be_judged(operation: Operation) -> bool:
    """Whether an operation may be begun by somebody who has scopes; all that is new is refused until it is listed."""
    return operation.resource in STATIC or operation.resource.partition("_")[0] in JUDGED_RESOURCES


def within_scopes(luxi: AsyncCalls, caller: Caller, received: int) -> AsyncCalls:
    """LUXI as a caller may use it; the very same for who has no scopes.

    @param received: nanoseconds since the epoch at which the request came.
    """
    return ScopedCalls(luxi, caller, received) if caller.scopes else luxi


@define
class ScopedCalls(AsyncCalls):
    """Judges each call; a method that is not known here is refused."""

    luxi: AsyncCalls
    caller: Caller
    received: int
    _rows: ScopeRows = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._rows = ScopeRows(self.luxi, self.caller)

    async def call(self, method: str, args: list[Any]) -> Any:
        """As AsyncClient.call says. @raise HttpError: 403, 404"""
        judged = _METHODS.get(method)
        if judged is None:
            raise refusal(f"ask the master for {method}")
        return await judged(self, *args)

    async def _submit_job(self, ops: Sequence[dict[str, Any]]) -> int:
        return await self.luxi.submit_job(await JobCheck(self._rows).checked(ops, self.received))

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
        rows = await self.luxi.query_jobs(job_ids, [*fields, "ops"])
        seen = await self._rows.jobs(row[-1] for row in rows)
        if not job_ids:
            return [row[:-1] for row, is_seen in zip(rows, seen, strict=True) if is_seen]
        return [
            row[:-1] if is_seen else [int(job_id) if name == "id" else None for name in fields]
            for job_id, row, is_seen in zip(job_ids, rows, seen, strict=True)
        ]

    async def _query_instances(self, names: Sequence[str], fields: Sequence[str], _locking: bool = False) -> Rows:
        rows = await self.luxi.query_instances(names, [*fields, *SCOPE_FIELDS])
        count = len(SCOPE_FIELDS)
        return [row[:-count] for row in rows if self._rows.holds(row[-count:])]

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
        """Of instances and jobs only."""
        extra = {"instance": SCOPE_FIELDS, "job": ("ops",)}.get(resource)
        if extra is None:
            raise refusal(f"query anything but instances and jobs, such as '{resource}'")
        if query_filter is not None:  # asking for one name alone would tell whether others have it
            query_filter = ["&", query_filter, _ANY[resource]]
        answer = await self.luxi.query(resource, [*fields, *extra], query_filter)
        count = len(extra)
        judged = [[value if status == 0 else None for status, value in row[-count:]] for row in answer["data"]]
        if resource == "job":
            inside = await self._rows.jobs(ops for (ops,) in judged)
        else:
            inside = [self._rows.holds(row) for row in judged]
        rows = [row[:-count] for row, is_inside in zip(answer["data"], inside, strict=True) if is_inside]
        return {**answer, "fields": answer["fields"][:-count], "data": rows}


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
