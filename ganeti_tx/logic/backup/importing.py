"""Filling the disks of a new instance from an export, by the import script of its OS."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import frozen

from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.logic.backup.ends import DumpEnd, ScriptEnd
from ganeti_tx.logic.backup.source import Source
from ganeti_tx.logic.disks.carrying import Carrying
from ganeti_tx.logic.disks.ends import RECEIVING, SENDING
from ganeti_tx.logic.disks.on_nodes import assemble_elsewhere, disk_nodes, shutdown_disks
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.instance import InstanceRunRename
from ganeti_tx.rpc.interfaces import RpcError

IMPORT = "run the OS import scripts"


class Filling(Protocol):
    """What brings the data of a new instance."""

    @property
    def scripts(self) -> Sequence[str]:
        """Those that its OS must have besides the usual ones."""

    def locks(self, name: str) -> Sequence[LockRequest]:
        """Of instances by name, besides that of the new one."""

    async def read_again(self) -> None:
        """Under the locks. @raise OpPrereqError: the data are not there any more as they were."""

    def hook_values(self) -> Mapping[str, object]:
        """What scripts are told of it."""

    def steps(self, target: InstanceView) -> Sequence[PlannedStep]:
        """What is planned."""

    async def run(self, target: InstanceView, spec: InstanceSpec, shutdowns: Sequence[Undo], *, stay: bool) -> None:
        """Fill the disks. @param shutdowns: take them down again; `stay`: they are wanted after that.

        @raise OpExecError: one is not filled.
        """


@frozen
class Import:
    """See `Filling`: from an export to an instance whose disks are new."""

    parts: Parts
    source: Source
    compress: str
    debug: int

    @property
    def scripts(self) -> Sequence[str]:
        """See `Filling`."""
        return ("import",) if self.source.files else ()

    def locks(self, name: str) -> Sequence[LockRequest]:
        """See `Filling`."""
        return self.source.lock(name)

    async def read_again(self) -> None:
        """See `Filling`."""
        await self.source.read_again(self.parts)

    def steps(self, target: InstanceView) -> Sequence[PlannedStep]:
        """See `Filling`."""
        if not self.source.files:
            return []
        nodes = tuple(dict.fromkeys((*disk_nodes(target), target.primary.name, self.source.node.name)))
        return [PlannedStep(IMPORT, nodes, (f"instance {target.instance.name}", f"export {self.source.path}"))]

    def hook_values(self) -> Mapping[str, object]:
        """What scripts are told of the export; the files as Python shows a list."""
        directory = self.source.directory
        files = [f"{directory}/{file}" for file in self.source.files.values()]
        return {"SRC_NODE": self.source.node.name, "SRC_PATH": directory, "SRC_IMAGES": str(files)}

    async def run(self, target: InstanceView, spec: InstanceSpec, shutdowns: Sequence[Undo], *, stay: bool) -> None:
        """See `Filling`."""
        if not self.source.files:
            return
        exported, name = self.source.exported, target.instance.name
        for index, disk in enumerate(target.disks):
            if index not in self.source.files:
                self.parts.warn(f"disk/{index} of {disk.size} MiB is left empty: the export has nothing for it")
        source = DumpEnd(SENDING, self.source.node, self.source.path, self.source.files, self.source.sums)
        end = ScriptEnd(RECEIVING, target.primary, spec, self.debug)
        carrying = Carrying(self.parts, name, list(self.source.files), source, end, self.compress)
        self.parts.info("* running the instance OS import scripts...")
        async with self.parts.step(IMPORT, *shutdowns, *await carrying.prepare()):
            await assemble_elsewhere(self.parts.nodes, target, self.parts.warn)
            await carrying.carry()
            if name != exported.name:
                await renamed(self.parts, target, spec, exported.name, self.debug)
            if not stay:
                await shutdown_disks(self.parts.nodes, target, self.parts.warn)


async def renamed(parts: Parts, target: InstanceView, spec: InstanceSpec, former: str, debug: int) -> None:
    """Tell what has come its new name; the instance is imported also if that fails."""
    parts.info(f"Running rename script for {spec.name}")
    try:
        await parts.nodes.call(target.primary, InstanceRunRename(instance=spec, old_name=former, debug=debug))
    except RpcError as error:
        parts.warn(f"Could not run OS rename script for instance {spec.name} (but it is imported): {error}")
