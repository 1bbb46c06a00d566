"""The hooks around one logical unit's work: those before may stop it, those after only tell (Ganeti 3.0 hook table)."""

from collections.abc import Awaitable, Mapping, Sequence

from attrs import define, field

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import GanetiError, HooksAbort, HooksFailure, error_text, escaped_line_ends
from ganeti_tx.logic.hook import HookAnswers, HookNodes
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.hooks import CONFIG_UPDATE, HookPhase, HookResult, HookStatus, environment
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.rpc.calls.hooks import HooksRunner
from ganeti_tx.rpc.interfaces import INodeRpc


@define
class HookRun:
    """Runs the hooks that a unit declares. `nodes` are such as a stop does not reach: what is begun is told in full."""

    unit: LogicalUnit[OpCode]
    config: IConfig
    nodes: INodeRpc
    _before: Mapping[str, object] = field(factory=dict)
    _read: "tuple[Cluster, Node] | None" = None

    async def before(self) -> None:
        """To be called when the unit has checked. A node that does not answer is only told of.

        @raise HooksAbort: scripts failed; the argument lists node, script and output of each.
        @raise HooksFailure: no node has answered.
        """
        hook = self.unit.hook
        if hook is None:
            return
        self._before = await self.unit.hook_values()
        answers = await self._run(hook.path, HookPhase.PRE, await self._nodes(hook.pre))
        failed = [[node.name, each.script, each.output] for node, each in failures(answers)]
        if failed:
            raise HooksAbort(failed)
        if answers and all(outcome.error is not None for _, outcome in answers):
            raise HooksFailure(f"no node could be asked for its scripts of {hook.path}: {answers[0][1].error}")

    async def after(self, config_changed: bool) -> HookAnswers:
        """To be called when the work is done, which stays done whatever happens here; what the unit's own scripts gave."""
        return await self._or_warn(self._after(config_changed))

    async def after_on(self, nodes: Sequence[Node]) -> None:
        """The hooks after the work before its end, on nodes that will not be there any more; no reason to stop either."""
        await self._or_warn(self._post(nodes))

    async def _or_warn(self, work: Awaitable[HookAnswers]) -> HookAnswers:
        try:
            return await work
        except GanetiError as error:
            self.unit.warn(f"The hooks after the operation could not be run: {error_text(error)}")
            return []

    async def _after(self, config_changed: bool) -> HookAnswers:
        answers: HookAnswers = []
        if self.unit.hook is not None:
            await self.unit.read_again()
            answers = await self._post(await self._nodes(self.unit.hook.post))
        if config_changed:
            await self._run(CONFIG_UPDATE, HookPhase.POST, await self._nodes(HookNodes.MASTER))
        return answers

    async def _post(self, nodes: Sequence[Node]) -> HookAnswers:
        hook = self.unit.hook
        return [] if hook is None else await self._run(hook.path, HookPhase.POST, nodes, await self.unit.hook_values())

    async def _nodes(self, which: HookNodes) -> list[Node]:
        """The nodes, by name."""
        if not which:
            return []
        wanted: list[Node] = []
        own = await self.unit.object_nodes()
        if HookNodes.MASTER in which:
            wanted.append((await self._cluster())[1])
        if HookNodes.OBJECT in which:
            wanted.extend(own)
        if HookNodes.OTHERS in which:
            known = {node.uuid for node in own}
            wanted.extend(node for node in await self.config.nodes() if node.uuid not in known)
        return sorted({node.uuid: node for node in wanted}.values(), key=lambda node: node.name)

    async def _cluster(self) -> tuple[Cluster, Node]:
        """The cluster and its master, as they were when the first hook ran."""
        if self._read is None:
            cluster = await self.config.cluster()
            self._read = cluster, await self.config.node(cluster.master_node)
        return self._read

    async def _run(
        self, path: str, phase: HookPhase, nodes: Sequence[Node], after: Mapping[str, object] | None = None
    ) -> HookAnswers:
        """Run one phase on some nodes at the same time; tell of those that do not answer, and what failed afterwards."""
        targets = [node for node in nodes if not node.offline]
        if not targets:
            return []
        cluster, master = await self._cluster()
        told = environment(
            path,
            phase,
            self.unit.op.op_id(),
            None if self.unit.hook is None else self.unit.hook.about,
            cluster=cluster.cluster_name,
            master=master.name,
            before=self._before,
            after=after,
        )
        outcomes = await self.nodes.call_many(targets, HooksRunner(hpath=path, phase=phase, env=told))
        answers = [(node, outcomes[node.name]) for node in targets]
        for node, outcome in answers:
            if outcome.error is not None:
                self.unit.warn(f"Communication failure to node {node.name}: {outcome.error}")
        if phase is HookPhase.POST:
            for node, each in failures(answers):
                self.unit.warn(f"On {node.name} script {each.script} failed, output: {escaped_line_ends(each.output)}")
        return answers


def failures(answers: HookAnswers) -> list[tuple[Node, HookResult]]:
    """The scripts that failed."""
    return [(node, each) for node, outcome in answers for each in outcome.value or () if each.status is HookStatus.FAIL]
