"""Jobs by which instances get away from where they are, as an allocator finds them: checked, before any is submitted."""

from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import define
from msgspec.structs import replace

from ganeti_tx.allocator.requests import ChangeGroup, Evacuation, NodeEvacuate
from ganeti_tx.errors import GanetiError, OpExecError
from ganeti_tx.logic.allocation import Allocation, Chosen, allocators
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import check_takes_instances
from ganeti_tx.logic.target_groups import lacking
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import decode
from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.instance_disks import OpInstanceReplaceDisks
from ganeti_tx.model.opcodes.instance_place import OpInstanceFailover, OpInstanceMigrate
from ganeti_tx.model.opcodes.types import AllocatorMode, FinalStatus, ReplaceDisksMode

#: Characters of why one cannot be moved that are told: some allocators print all that they know.
TOLD = 1000
Jobs = list[list[OpCode]]
#: How a job may end for the one after it to begin.
ENDED = (FinalStatus.CANCELED, FinalStatus.ERROR, FinalStatus.SUCCESS)
#: An opcode that an allocator may ask for.
Moving = OpInstanceMigrate | OpInstanceFailover | OpInstanceReplaceDisks


@define
class EvacuationJobs:
    """Asks for the jobs.

    @ivar asked: the allocator; None or "." are the cluster's default ones.
    @ivar groups: the uuids of the groups that instances may come to.
    @ivar early_release: whether disks are given up before their new copies are whole.
    """

    parts: Parts
    asked: str | None
    groups: Sequence[str]
    early_release: bool = False
    priority: Literal[-10, 0, 10] = 0

    async def find(
        self, views: Sequence[InstanceView], request: NodeEvacuate | ChangeGroup, options: Mapping[str, object] = {}
    ) -> Jobs:
        """The jobs that move these instances, all of them.

        @raise OpPrereqError: there is no allocator, or the allocator has found nothing.
        @raise OpExecError: some cannot be moved; or the allocator does not work, or has found what cannot be.
        """
        kind = AllocatorMode.NODE_EVACUATE if isinstance(request, NodeEvacuate) else AllocatorMode.CHANGE_GROUP
        allocation = Allocation(
            config=self.parts.config,
            nodes=self.parts.nodes,
            warn=self.parts.warn,
            names=allocators(self.asked, await self.parts.config.cluster(), kind),
            template=views[0].disk_template,
            hypervisor=views[0].instance.hypervisor,
            options=options,
        )
        chosen: Chosen[Evacuation] = await allocation.ask(request)
        self._refuse_failed(chosen.result)
        to_nodes = isinstance(request, NodeEvacuate)
        moves = (f"{name} (to {', '.join(nodes) if to_nodes else group})" for name, group, nodes in chosen.result.moved)
        self.parts.info(f"- INFO: Instances to be moved: {', '.join(moves)}")
        try:
            return await self._jobs(chosen.result, {view.instance.name: view for view in views})
        except GanetiError as error:
            raise OpExecError(f"iallocator '{chosen.allocator}' returned an invalid result: {error}") from None

    def _refuse_failed(self, found: Evacuation) -> None:
        if found.failed:
            names = ", ".join(f"{name} ({reason[:TOLD]})" if reason else name for name, reason in found.failed)
            self.parts.warn(f"Unable to evacuate instances {names}")
            raise OpExecError(f"Unable to evacuate instances {names}")

    async def _jobs(self, found: Evacuation, views: Mapping[str, InstanceView]) -> Jobs:
        nodes = {node.name: node for node in await self.parts.config.nodes()}
        groups = {group.uuid: group for group in await self.parts.config.groups()}
        for name, _where, chosen in found.moved:
            for node in chosen:
                if node not in nodes:
                    raise OpExecError(f"there is no node {node!r:.200}, to which {name} would come")
                group = groups[nodes[node].group]
                if name in views and (missing := lacking(views[name], group)):
                    raise OpExecError(
                        f"node {node} is in group {group.name}, which is not connected to network {', '.join(missing)}"
                        f" of instance {name}; 'gnt-network connect' does that"
                    )
        jobs = [[self._checked(decode(raw), views, nodes) for raw in job] for job in found.jobs]
        if untouched := views.keys() - {op.instance_name for job in jobs for op in job}:
            raise OpExecError(f"no job moves {', '.join(sorted(untouched))}")
        return [list(job) for job in jobs]

    def _checked(self, op: OpCode, views: Mapping[str, InstanceView], nodes: Mapping[str, Node]) -> Moving:
        """The opcode, as it is to be submitted. @raise GanetiError: it is not to be."""
        if not isinstance(op, Moving):
            raise OpExecError(f"{op.op_id()} moves no instance")
        if op.instance_name not in views:
            raise OpExecError(f"{op.op_id()} for instance {op.instance_name!r:.200}, which was not asked about")
        view, target = views[op.instance_name], target_of(op)
        if target is not None and target not in nodes:
            raise OpExecError(f"{op.op_id()} to node {target!r:.200}, which is not there")
        if target is not None and nodes[target].uuid not in view.nodes:
            self._check_new(nodes[target])
        if isinstance(op, OpInstanceReplaceDisks):
            op = replace(op, early_release=self.early_release)
        return replace(op, priority=self.priority, dry_run=None, depends=None, comment=None, reason=())

    def _check_new(self, node: Node) -> None:
        check_takes_instances(node)
        if node.group not in self.groups:
            raise OpExecError(f"node {node.name} is in none of the groups that instances may come to")


def target_of(op: Moving) -> str | None:
    """The node that the instance comes to, if the opcode says it."""
    return op.remote_node if isinstance(op, OpInstanceReplaceDisks) else op.target_node


def to_secondary(
    views: Sequence[InstanceView], remote: Node, early_release: bool, priority: Literal[-10, 0, 10]
) -> Jobs:
    """The jobs that give each instance a new secondary node, without asking anybody."""
    return [
        [
            OpInstanceReplaceDisks(
                instance_name=view.instance.name,
                mode=ReplaceDisksMode.NEW_SECONDARY,
                remote_node=remote.name,
                early_release=early_release,
                priority=priority,
            )
        ]
        for view in views
    ]


def by_failover(jobs: Jobs) -> Jobs:
    """The same without live migration: what would be migrated is stopped and started."""
    return [[failover(op) if isinstance(op, OpInstanceMigrate) else op for op in job] for job in jobs]


def failover(op: OpInstanceMigrate) -> OpInstanceFailover:
    """To the same node."""
    return OpInstanceFailover(
        instance_name=op.instance_name,
        target_node=op.target_node,
        ignore_ipolicy=op.ignore_ipolicy,
        priority=op.priority,
    )


def in_sequence(jobs: Jobs) -> Jobs:
    """Each waits for the one before, however that ends."""
    return [jobs[0], *([replace(job[0], depends=((-1, ENDED),)), *job[1:]] for job in jobs[1:])] if jobs else []
