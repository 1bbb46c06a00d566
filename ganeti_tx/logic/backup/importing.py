"""Filling the disks of a new instance from an export, by the import script of its OS."""

from collections.abc import Mapping, Sequence

from attrs import frozen

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


@frozen
class Import:
    """From an export to an instance whose disks are new."""

    parts: Parts
    source: Source
    compress: str
    debug: int

    def step(self, target: InstanceView) -> PlannedStep:
        """What is planned."""
        nodes = tuple(dict.fromkeys((*disk_nodes(target), target.primary.name, self.source.node.name)))
        return PlannedStep(IMPORT, nodes, (f"instance {target.instance.name}", f"export {self.source.path}"))

    def hook_values(self) -> Mapping[str, object]:
        """What scripts are told of the export; the files as Python shows a list."""
        directory = self.source.directory
        files = [f"{directory}/{file}" for file in self.source.files.values()]
        return {"SRC_NODE": self.source.node.name, "SRC_PATH": directory, "SRC_IMAGES": str(files)}

    async def run(self, target: InstanceView, spec: InstanceSpec, shutdowns: Sequence[Undo], *, stay: bool) -> None:
        """Fill the disks. @param shutdowns: take them down again; `stay`: they are wanted after that.

        @raise OpExecError: one is not filled.
        """
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
                await self._rename(target, spec)
            if not stay:
                await shutdown_disks(self.parts.nodes, target, self.parts.warn)

    async def _rename(self, target: InstanceView, spec: InstanceSpec) -> None:
        """Tell what has come its new name; the instance is imported also if that fails."""
        self.parts.info(f"Running rename script for {spec.name}")
        call = InstanceRunRename(instance=spec, old_name=self.source.exported.name, debug=self.debug)
        try:
            await self.parts.nodes.call(target.primary, call)
        except RpcError as error:
            self.parts.warn(f"Could not run OS rename script for instance {spec.name} (but it is imported): {error}")
