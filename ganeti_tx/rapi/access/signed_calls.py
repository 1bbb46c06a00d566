"""LUXI as the callers of the Remote API have it: what they submit bears who asked for it, and none of them is shown that."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.model.scope import SCOPES_SOURCE, Scopes
from ganeti_tx.model.signature import CALLER_SOURCE, signature_of, unsigned
from ganeti_tx.rapi.access.judged_jobs import RememberedJobs
from ganeti_tx.rapi.access.scoped_calls import ScopedCalls
from ganeti_tx.rapi.caller import Caller

RawOp = dict[str, Any]

#: Methods that submit jobs, too, and that no operation has a use for; one that has gets them signed first.
UNSIGNED = frozenset({"SubmitManyJobs", "SubmitJobToDrainedQueue"})
#: The field of jobs that has signatures in it.
_OPS = "ops"


def calls_of(luxi: AsyncCalls, caller: Caller, received: int, remembered: RememberedJobs) -> AsyncCalls:
    """LUXI as a caller may use it.

    @param received: nanoseconds since the epoch at which the request came.
    """
    return SignedCalls(ScopedCalls(luxi, caller, remembered) if caller.scopes else luxi, caller, received)


@frozen
class SignedCalls(AsyncCalls):
    """Signs what is submitted, and takes signatures out of answers."""

    luxi: AsyncCalls
    caller: Caller
    received: int

    async def call(self, method: str, args: list[Any]) -> Any:
        """As AsyncClient.call says."""
        if method in UNSIGNED:
            raise ValueError(f"{method} would submit jobs that bear nobody's signature")
        own = _METHODS.get(method)
        return await (self.luxi.call(method, args) if own is None else own(self, *args))

    async def _submit_job(self, ops: Sequence[RawOp]) -> int:
        return await self.luxi.submit_job([self._signed(op) for op in ops])

    def _signed(self, op: RawOp) -> RawOp:
        """Nobody else can sign so: such entries are taken out of what clients send."""
        return {**op, "reason": [*unsigned(op.get("reason", ())), *self._signature()]}

    def _signature(self) -> list[list[Any]]:
        name, scopes = self.caller.name, self.caller.scopes
        entries = [(CALLER_SOURCE, name)] if name is not None else []
        if scopes:
            entries.append((SCOPES_SOURCE, str(Scopes(scopes))))
        return [[source, text, self.received] for source, text in entries]

    async def _query_jobs(self, job_ids: Sequence[int | str] | None, fields: Sequence[str]) -> list[Any]:
        rows = await self.luxi.query_jobs(job_ids, fields)
        return [shown(fields, row) for row in rows] if _OPS in fields else rows

    async def _query(
        self, resource: str, fields: Sequence[str], query_filter: list[Any] | None = None
    ) -> dict[str, Any]:
        answer = await self.luxi.query(resource, fields, query_filter)
        if resource != "job" or _OPS not in fields:
            return answer
        rows = [
            [
                [status, value]
                for (status, _), value in zip(row, shown(fields, [value for _, value in row]), strict=True)
            ]
            for row in answer["data"]
        ]
        return {**answer, "data": rows}

    async def _wait_for_job_change(
        self, job_id: int | str, fields: Sequence[str], known: list[Any] | None, *rest: Any
    ) -> Any:
        if known is not None and _OPS in fields:
            known = await self._as_shown_before(job_id, fields, known)
        changed = await self.luxi.call("WaitForJobChange", [job_id, fields, known, *rest])
        if not isinstance(changed, list):
            return changed
        row, entries = changed
        return [shown(fields, row), entries]

    async def _as_shown_before(self, job_id: int | str, fields: Sequence[str], known: list[Any]) -> list[Any]:
        """What a client knows of a job, with what he was not shown: else it would differ from what there is at all times."""
        ((ops,),) = await self.luxi.query_jobs([job_id], [_OPS])
        return [
            ops if name == _OPS and value == without_signatures(ops) else value
            for name, value in zip(fields, known, strict=False)
        ]


def shown(fields: Sequence[str], row: Sequence[Any]) -> list[Any]:
    """What callers see of a job."""
    return [without_signatures(value) if name == _OPS else value for name, value in zip(fields, row, strict=True)]


def without_signatures(ops: Any) -> Any:
    """The opcodes of a job without who asked for them and what he is kept to, which are nobody else's business."""
    if not isinstance(ops, list):
        return ops
    return [{**op, "reason": list(unsigned(op["reason"]))} if signature_of(op.get("reason", ())) else op for op in ops]


_METHODS: Mapping[str, Callable[..., Awaitable[Any]]] = {
    "SubmitJob": SignedCalls._submit_job,
    "WaitForJobChange": SignedCalls._wait_for_job_change,
    "QueryJobs": SignedCalls._query_jobs,
    "Query": SignedCalls._query,
}
