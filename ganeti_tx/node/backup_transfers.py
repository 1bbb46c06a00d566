"""Node calls about exports on their way: from a script to a file of an export, and back."""

from collections.abc import Sequence

from attrs import define

from ganeti_tx.errors import OpExecError
from ganeti_tx.node.answers import answers
from ganeti_tx.node.disks import Disks
from ganeti_tx.node.exports import Exports
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.os.scripts import OsScripts
from ganeti_tx.node.os.streaming import EXPORT, IMPORT, streaming
from ganeti_tx.node.storage.streams import BLOCK, FILLING, HOLES
from ganeti_tx.node.transfer.interfaces import ITransferEnds
from ganeti_tx.node.transfer.spec import Script
from ganeti_tx.node.transfers import receiving, sending
from ganeti_tx.rpc.calls.backup import (
    DumpExportStart,
    DumpImportStart,
    ScriptExportStart,
    ScriptImportStart,
    ScriptTransferStart,
)
from ganeti_tx.runtime.paths import Paths

MIB = 1 << 20
#: Seconds for which a script may say nothing, or go on when it has all: it may build a file system first, or a boot loader.
PATIENCE = 86400.0


@define
class BackupTransfers:
    """The ends that are on this node of what is exported and imported."""

    disks: Disks
    scripts: OsScripts
    exports: Exports
    ends: ITransferEnds
    paths: Paths

    @answers(ScriptExportStart)
    async def send_from_script(self, call: ScriptExportStart) -> None:
        """How much it will be, the script says."""
        command, script = await self._streaming(EXPORT, call)
        spec = sending(self.paths, call, call.port, command, size=0, script=script, patience=PATIENCE)
        await self.ends.start(call.transfer, spec)

    @answers(ScriptImportStart)
    async def receive_into_script(self, call: ScriptImportStart) -> None:
        """The script reads it."""
        command, script = await self._streaming(IMPORT, call)
        await self.ends.start(
            call.transfer, receiving(self.paths, call, command, size=0, script=script, patience=PATIENCE)
        )

    async def _streaming(self, name: str, call: ScriptTransferStart[None]) -> tuple[Sequence[str], Script]:
        """A script, which gets to see the bytes of the one disk that it is about: others of its kind see those of the others."""
        attached, device = await self._attach(call)
        seen, prefix = self.disks.view(device, writable=name == IMPORT)
        disks = [seen if disk is device else disk for disk in attached]
        return streaming(self.scripts, name, call.instance, disks, call.index, seen, call.debug, prefix)

    async def _attach(self, call: ScriptTransferStart[None]) -> tuple[list[AttachedDisk], AttachedDisk]:
        """All disks of the instance, and what the script is given."""
        if not 0 <= call.index < len(call.instance.disks):
            raise OpExecError(f"instance {call.instance.name} has no disk/{call.index}")
        attached = await self.disks.attach(call.instance)
        if call.device is None:
            return attached, attached[call.index]
        return attached, await self.disks.attach_part(call.device, call.instance.hypervisor)

    @answers(DumpImportStart)
    async def receive_dump(self, call: DumpImportStart) -> None:
        """A new file of an export that has been begun; what is nothing but zeros takes no room in it."""
        path = self.exports.building(call.export) / call.file
        command = [*FILLING, *HOLES, "conv=excl,fsync,sparse", f"of={path}"]
        await self.ends.start(call.transfer, receiving(self.paths, call, command, size=0, sha256="", patience=PATIENCE))

    @answers(DumpExportStart)
    async def send_dump(self, call: DumpExportStart) -> None:
        """@raise OpExecError: there is no such file, or it leads elsewhere."""
        path = self.exports.dump(call.path, call.file)
        size = self.exports.files.stat(path).size
        spec = sending(
            self.paths,
            call,
            call.port,
            ["dd", BLOCK, "iflag=nofollow", "status=none", f"if={path}"],
            size=-(-size // MIB),
            sha256=call.sha256 or None,
            patience=PATIENCE,
        )
        await self.ends.start(call.transfer, spec)
