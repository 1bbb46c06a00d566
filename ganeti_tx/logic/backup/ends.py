"""The ends of exports and imports: scripts of OS definitions at disks, and the files of an export."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from ganeti_tx.logic.disks.ends import SENDING
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.backup import DumpExportStart, DumpImportStart, ScriptExportStart, ScriptImportStart
from ganeti_tx.rpc.calls.base import NodeCall


@frozen
class ScriptEnd:
    """The export or import script at the disks of an instance, which whoever carries has made ready elsewhere, and takes
    down again.

    @ivar devices: the snapshots that are read instead of the disks.
    """

    does: str
    node: Node
    instance: InstanceSpec
    debug: int
    devices: Mapping[int, DiskSpec] = field(factory=dict)

    def calls(self, index: int, told: Mapping[str, Any]) -> Sequence[NodeCall[Any]]:
        """See `End`."""
        start = ScriptExportStart if self.does == SENDING else ScriptImportStart
        given: dict[str, Any] = {
            "instance": self.instance,
            "index": index,
            "device": self.devices.get(index),
            "debug": self.debug,
        }
        return [start(**given, **told)]

    def undos(self, index: int) -> Sequence[Undo]:
        """See `End`."""
        return ()


@frozen
class DumpEnd:
    """The files of an export, by the index of the disk.

    @ivar path: of the export; `sums` are the checksums that its files must have, where they are known.
    """

    does: str
    node: Node
    path: str
    files: Mapping[int, str]
    sums: Mapping[int, str] = field(factory=dict)

    def calls(self, index: int, told: Mapping[str, Any]) -> Sequence[NodeCall[Any]]:
        """See `End`."""
        if self.does == SENDING:
            return [DumpExportStart(path=self.path, file=self.files[index], sha256=self.sums.get(index, ""), **told)]
        return [DumpImportStart(export=self.path, file=self.files[index], **told)]

    def undos(self, index: int) -> Sequence[Undo]:
        """See `End`: what has come goes with the export."""
        return ()
