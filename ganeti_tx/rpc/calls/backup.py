"""Calls about exported instances (reference: export.json, directory)."""

from collections.abc import Iterable
from typing import Annotated, ClassVar

import msgspec

from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.rpc.calls.base import FAST, NORMAL, NodeCall, Question, R
from ganeti_tx.rpc.calls.disk import disk_tree
from ganeti_tx.rpc.calls.instance import instance_with_disks
from ganeti_tx.rpc.calls.transfer import Port, TransferStart

#: What an export, or a part of one, is called in its directory; none is hidden.
ExportName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,249}\Z")]
#: Of an export, below the directory of exports; its own path may stand before it.
ExportPath = Annotated[
    str, msgspec.Meta(pattern=r"^/?[A-Za-z0-9_][A-Za-z0-9_.+-]{0,249}(/[A-Za-z0-9_][A-Za-z0-9_.+-]{0,249}){0,15}\Z")
]


class ExportList(Question[list[str]], frozen=True, kw_only=True):
    """The names of the exports that lie on the node."""

    name: ClassVar[str] = "export_list"
    timeout: ClassVar[float] = FAST


class ExportDescription(msgspec.Struct, frozen=True):
    """Where an export is, and the text of its config.ini, which may hold private parameters: no log shows it."""

    directory: str
    config: str

    def __repr__(self) -> str:
        return f"<ExportDescription {self.directory}>"


class ExportInfo(Question[ExportDescription], frozen=True, kw_only=True):
    """What does an export tell of itself?"""

    name: ClassVar[str] = "export_info"
    in_lines: ClassVar[bool] = False
    timeout: ClassVar[float] = FAST
    path: ExportPath


class ExportCall(NodeCall[R], frozen=True, kw_only=True):
    """A call that changes an export, which it has for itself."""

    export: ExportName

    def reserves(self) -> Iterable[str]:
        """The export."""
        return [f"export {self.export}"]


class ExportBegin(ExportCall[None], frozen=True, kw_only=True):
    """Make the directory in which an export is put together; what an earlier one has left of it goes."""

    name: ClassVar[str] = "export_begin"
    timeout: ClassVar[float] = NORMAL


class ExportDiscard(ExportCall[None], frozen=True, kw_only=True):
    """Take that back: an export that was finalized before stays; one that never was begun is no error."""

    name: ClassVar[str] = "export_discard"
    timeout: ClassVar[float] = NORMAL


class FinalizeExport(ExportCall[None], frozen=True, kw_only=True):
    """Describe what has come, and put it in the place of the former export of that name."""

    name: ClassVar[str] = "finalize_export"
    config: str


class ExportRemove(ExportCall[None], frozen=True, kw_only=True):
    """Remove an export; what is not there is no error."""

    name: ClassVar[str] = "export_remove"
    timeout: ClassVar[float] = NORMAL


class ScriptTransferStart(TransferStart[R], frozen=True, kw_only=True):
    """By a script of the instance's OS definition, at one of its disks; all of them are made ready.

    @ivar device: what the script is given instead of the disk: a snapshot of it.
    """

    instance: InstanceSpec
    index: int
    device: DiskSpec | None = None
    debug: int = 0

    def reserves(self) -> Iterable[str]:
        """The end, and the instance with its disks as long as it begins."""
        of_device = disk_tree(self.device) if self.device is not None else ()
        return [*super().reserves(), *instance_with_disks(self.instance), *of_device]


class ScriptExportStart(ScriptTransferStart[None], frozen=True, kw_only=True):
    """Connect to the end that listens, and send what the export script prints."""

    name: ClassVar[str] = "script_export_start"
    port: Port


class ScriptImportStart(ScriptTransferStart[None], frozen=True, kw_only=True):
    """Listen at an own address, and give the import script what comes."""

    name: ClassVar[str] = "script_import_start"


class DumpImportStart(TransferStart[None], frozen=True, kw_only=True):
    """Listen at an own address, and keep what comes as a file of an export that is put together; its checksum is told."""

    name: ClassVar[str] = "dump_import_start"
    export: ExportName
    file: ExportName


class DumpExportStart(TransferStart[None], frozen=True, kw_only=True):
    """Connect to the end that listens, and send a file of an export.

    @ivar sha256: what the file must have, where that is known: else the other end does not take it for the whole.
    """

    name: ClassVar[str] = "dump_export_start"
    path: ExportPath
    file: ExportName
    sha256: str = ""
    port: Port
