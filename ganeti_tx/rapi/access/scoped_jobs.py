"""Jobs that a scoped user may submit."""

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.model.opcodes import OpCode, OpInstanceCreate, OpTagsDel, OpTagsSet, decode
from ganeti_tx.model.opcodes.named import WITHOUT_INSTANCE, instances_of, new_names_of
from ganeti_tx.model.taken_names import host_refusal
from ganeti_tx.rapi.access.opcode_rules import check_parameters, node_names_of, refusal
from ganeti_tx.rapi.access.scope_rows import ScopeRows
from ganeti_tx.rapi.http.http_errors import forbidden, not_found

RawOp = dict[str, Any]


@frozen
class JobCheck:
    """Judges the opcodes of a job before it is submitted."""

    rows: ScopeRows

    async def checked(self, ops: Sequence[RawOp]) -> list[RawOp]:
        """The opcodes as they are to be submitted.

        @raise HttpError: 403, it may not be done; 404, there is no such instance or job in scope.
        """
        if not ops:
            raise refusal("submit jobs of nothing")
        completed = [await self._completed(raw) for raw in ops]
        for raw in completed:
            await self._judge(raw, decode(raw))
        return completed

    async def _completed(self, raw: RawOp) -> RawOp:
        """With the hypervisor that is meant where none is named: it is the one that is judged, and no other later on."""
        if raw.get("OP_ID") != OpInstanceCreate.op_id() or raw.get("hypervisor") is not None:
            return raw
        return {**raw, "hypervisor": (await self.rows.luxi.query_cluster_info())["default_hypervisor"]}

    async def _judge(self, raw: RawOp, op: OpCode) -> None:
        check_parameters(op)
        names = instances_of(raw)
        if not names and op.op_id() not in WITHOUT_INSTANCE:
            raise refusal(f"submit {op.op_id()} without naming instances")
        for name in set(names) - await self.rows.instances(names):
            raise not_found(f"there is no instance '{name}'")
        nodes = list(node_names_of(op))
        for node in set(nodes) - await self.rows.nodes(nodes):
            raise forbidden(f"node '{node}' is in none of the node groups that {self.rows.caller.name} is kept to")
        for name in await self.rows.hosts([*new_names_of(op)]):
            raise forbidden(host_refusal(name))
        self._check_future(op)
        await self._check_dependencies(op)

    def _check_future(self, op: OpCode) -> None:
        """What comes to be is in scope, and what is in scope stays there."""
        if isinstance(op, OpInstanceCreate) and self.rows.scopes.tags.isdisjoint(op.tags) and op.pnode is None:
            raise forbidden(f"a new instance needs {self._needs()}")
        if isinstance(op, (OpTagsSet, OpTagsDel)) and not self.rows.scopes.tags.isdisjoint(op.tags):
            raise refusal("change the tags that say which")

    def _needs(self) -> str:
        tags = [f"the tag '{tag}'" for tag in sorted(self.rows.scopes.tags)]
        groups = [f"a primary node (pnode) of node group '{group}'" for group in sorted(self.rows.scopes.groups)]
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
