"""Where an export goes: a directory of a node of this cluster, or another cluster."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import define

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.backup.ends import DumpEnd, ScriptEnd
from ganeti_tx.logic.backup.on_nodes import holders, remove_exports
from ganeti_tx.logic.backup.ownership import check_own
from ganeti_tx.logic.disks.carrying import Carrying
from ganeti_tx.logic.disks.ends import RECEIVING
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.questions import check_online
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.export_file import Dump, written
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.backup import OpBackupExport
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.backup import ExportBegin, ExportDiscard, FinalizeExport
from ganeti_tx.rpc.interfaces import RpcError

BEGIN, COPY = "begin with the export", "copy its disks by the OS export scripts"
FINALIZE, OLD = "finalize the export", "remove older exports"


class Transfers(Protocol):
    """All disks on their way: first `prepare`, then `carry`."""

    async def prepare(self) -> Sequence[Undo]:
        """What ends them."""

    async def carry(self) -> None:
        """@raise OpExecError: one has not come."""

    @property
    def sums(self) -> Mapping[int, str]:
        """The checksums that are known."""


class Target(Protocol):
    """What differs between the two; `target` is the instance, and `dumps` what the export has of each disk."""

    @property
    def nodes(self) -> Sequence[Node]:
        """Of this cluster, besides the instance's."""

    @property
    def is_final(self) -> bool:
        """Whether nothing can be taken back once the disks are there."""

    async def check(self, target: InstanceView) -> None:
        """Under the locks. @raise OpPrereqError: it cannot go there."""

    def before(self, name: str) -> Sequence[PlannedStep]:
        """What is planned before the disks are copied; `after` what follows when all is there, `last` when it is settled."""

    def after(self, name: str) -> Sequence[PlannedStep]:
        """See `before`."""

    def last(self, name: str) -> Sequence[PlannedStep]:
        """See `before`."""

    async def begin(self, name: str) -> None:
        """Make room for what comes."""

    def transfers(self, source: ScriptEnd, dumps: Sequence[Dump]) -> Transfers:
        """What carries the disks."""

    def undos(self) -> Sequence[Undo]:
        """What is put away in any case of what the copying needs."""

    async def finish(self, target: InstanceView, dumps: Sequence[Dump]) -> None:
        """All disks are there."""

    async def clear(self, name: str) -> None:
        """What is of no use any more goes."""

    def whereabouts(self) -> str:
        """Where all of it is now, for whoever has to remove the instance himself."""


@define
class LocalTarget:
    """See `Target`: a node that is named."""

    parts: Parts
    op: OpBackupExport
    now: float
    node: Node
    _older: Sequence[Node] = ()

    @classmethod
    async def asked(cls, parts: Parts, op: OpBackupExport, now: float) -> "LocalTarget":
        """@raise OpPrereqError: none is."""
        if not isinstance(op.target_node, str):
            raise OpPrereqError(f"target_node: a node's name is expected with mode {op.mode.value}", ECode.INVAL)
        return cls(parts, op, now, await parts.config.node(op.target_node_uuid or op.target_node))

    @property
    def nodes(self) -> Sequence[Node]:
        """See `Target`."""
        return (self.node,)

    @property
    def is_final(self) -> bool:
        """See `Target`: it is, when it is finished."""
        return False

    async def check(self, target: InstanceView) -> None:
        """See `Target`."""
        name = target.instance.name
        self.node = await self.parts.config.node(self.node.uuid)
        check_online(self.node, f"export instance {name} to it")
        if self.node.drained:
            raise OpPrereqError(f"node {self.node.name} is drained: cannot export to it", ECode.STATE)
        others = [node for node in await self.parts.config.nodes() if node.uuid != self.node.uuid]
        self._older = await holders(self.parts, name, others)
        await check_own(self.parts, self.op, target.instance, self.node, self._older)

    def before(self, name: str) -> Sequence[PlannedStep]:
        """See `Target`."""
        return [PlannedStep(BEGIN, (self.node.name,), (f"export {name}",))]

    def after(self, name: str) -> Sequence[PlannedStep]:
        """See `Target`."""
        return [PlannedStep(FINALIZE, (self.node.name,), (f"export {name}",))]

    def last(self, name: str) -> Sequence[PlannedStep]:
        """See `Target`."""
        older = tuple(each.name for each in self._older)
        return [PlannedStep(OLD, older, (f"export {name}",))] if older else []

    async def begin(self, name: str) -> None:
        """See `Target`."""
        undo = on_node("discard the export", self.node, ExportDiscard(export=name))
        async with self.parts.step(BEGIN, undo):
            await self._call(name, ExportBegin(export=name))

    def transfers(self, source: ScriptEnd, dumps: Sequence[Dump]) -> Transfers:
        """See `Target`."""
        name = source.instance.name
        end = DumpEnd(RECEIVING, self.node, name, {dump.index: dump.file for dump in dumps})
        return Carrying(self.parts, name, [dump.index for dump in dumps], source, end, self.op.compress)

    def undos(self) -> Sequence[Undo]:
        """See `Target`: none."""
        return ()

    async def finish(self, target: InstanceView, dumps: Sequence[Dump]) -> None:
        """See `Target`."""
        name = target.instance.name
        self.parts.info(f"Finalizing export on {self.node.name}")
        text = written(target.spec(), dumps, self.now)
        async with self.parts.step(FINALIZE):
            await self._call(name, FinalizeExport(export=name, config=text))

    async def _call(self, name: str, call: ExportBegin | FinalizeExport) -> None:
        try:
            await self.parts.nodes.call(self.node, call)
        except RpcError as error:
            raise OpExecError(f"could not export instance {name}: {error}") from None

    async def clear(self, name: str) -> None:
        """See `Target`."""
        self.parts.info(f"Removing old exports for instance {name}")
        if self._older:
            async with self.parts.step(OLD):
                for fault in await remove_exports(self.parts, name, self._older):
                    self.parts.warn(f"{fault}; 'gnt-backup remove' would remove the new one, too")

    def whereabouts(self) -> str:
        """See `Target`."""
        return f"the export on node {self.node.name} is whole"
