"""Jobs that a scoped user may submit."""

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.model.opcodes import OpCode, OpInstanceCreate, OpTagsDel, OpTagsSet, decode
from ganeti_tx.rapi.access.opcode_rules import WITHOUT_INSTANCE, check_parameters, instances_of, nodes_of, refusal
from ganeti_tx.rapi.access.scope_rows import CALLER_SOURCE, ScopeRows
from ganeti_tx.rapi.http.http_errors import forbidden, not_found

RawOp = dict[str, Any]


@frozen
class JobCheck:
    """Judges the opcodes of a job before it is submitted."""

    rows: ScopeRows

    async def checked(self, ops: Sequence[RawOp], received: int) -> list[RawOp]:
        """The opcodes, with who asked for them in their reason trails.

        @param received: nanoseconds since the epoch at which the request came.
        @raise HttpError: 403, it may not be done; 404, there is no such instance or job in scope.
        """
        if not ops:
            raise refusal("submit jobs of nothing")
        for raw in ops:
            await self._judge(raw, decode(raw))
        return [self._signed(raw, received) for raw in ops]

    async def _judge(self, raw: RawOp, op: OpCode) -> None:
        check_parameters(op)
        names = instances_of(raw)
        if not names and op.op_id() not in WITHOUT_INSTANCE:
            raise refusal(f"submit {op.op_id()} without naming instances")
        for name in set(names) - await self.rows.instances(names):
            raise not_found(f"there is no instance '{name}'")
        nodes = list(nodes_of(op))
        for node in set(nodes) - await self.rows.nodes(nodes):
            raise forbidden(f"node '{node}' is in none of the node groups that {self.rows.caller.name} is kept to")
        self._check_future(op)
        await self._check_dependencies(op)

    def _check_future(self, op: OpCode) -> None:
        """What comes to be is in scope, and what is in scope stays there."""
        if isinstance(op, OpInstanceCreate) and self.rows.tags.isdisjoint(op.tags) and op.pnode is None:
            raise forbidden(f"a new instance needs {self._needs()}")
        if isinstance(op, (OpTagsSet, OpTagsDel)) and not self.rows.tags.isdisjoint(op.tags):
            raise refusal("change the tags that say which")

    def _needs(self) -> str:
        tags = [f"the tag '{tag}'" for tag in sorted(self.rows.tags)]
        groups = [f"a primary node (pnode) of node group '{group}'" for group in sorted(self.rows.groups)]
        return " or ".join(tags + groups)

    async def _check_dependencies(self, op: OpCode) -> None:
        wanted = [job_id for job_id, _states in op.depends or ()]
        if not wanted:
            return
        if min(wanted) < 1:  # the queue counts back from the job's own id, over the jobs of everybody
            raise refusal("let a job depend on others than by their numbers")
        found = await self.rows.luxi.query_jobs(wanted, ["ops"])
        for job_id, seen in zip(wanted, await self.rows.jobs(ops for (ops,) in found), strict=True):
            if not seen:
                raise not_found(f"there is no job {job_id}")

    def _signed(self, raw: RawOp, received: int) -> RawOp:
        """Nobody else can sign so: such entries are taken out of what clients send."""
        reason: list[Any] = [entry for entry in raw.get("reason", ()) if entry[0] != CALLER_SOURCE]
        return {**raw, "reason": [*reason, [CALLER_SOURCE, self.rows.caller.name, received]]}
