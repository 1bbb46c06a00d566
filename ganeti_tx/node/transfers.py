"""Node calls about the bytes of disks on their way to and from other nodes."""

from collections.abc import Sequence

from attrs import define

from ganeti_tx.model.compression import packing, unpacking
from ganeti_tx.node.answers import answers
from ganeti_tx.node.storage.streams import read_command, write_command
from ganeti_tx.node.storage.tree import DeviceTree
from ganeti_tx.node.transfer.interfaces import ITransferEnds
from ganeti_tx.node.transfer.spec import Spec, Status
from ganeti_tx.rpc.calls.transfer import (
    ExportStart,
    ImpexpCleanup,
    ImpexpStatus,
    ImportStart,
    TransferProgress,
    TransferStart,
)
from ganeti_tx.runtime.paths import Paths


@define
class Transfers:
    """The ends of transfers that are on this node."""

    tree: DeviceTree
    ends: ITransferEnds
    paths: Paths

    @answers(ImportStart)
    async def receive(self, call: ImportStart) -> None:
        """Begin to listen."""
        await self._start(call, sends=False, address=call.address, port=0)

    @answers(ExportStart)
    async def send(self, call: ExportStart) -> None:
        """Begin to send."""
        await self._start(call, sends=True, address=call.address, port=call.port)

    async def _start(self, call: TransferStart[None], *, sends: bool, address: str, port: int) -> None:
        storage, status = self.tree.of(call.disk), await self.tree.found(call.disk)
        spec = Spec(
            sends=sends,
            command=[*(read_command if sends else write_command)(storage, call.disk, status)],
            filter=[*(packing if sends else unpacking)(call.compress)],
            magic=call.magic,
            host=address,
            port=port,
            peer=call.peer,
            identity=str(self.paths.client_pem if sends else self.paths.server_pem),
            authority=str(self.paths.authority_pem),
            connect_limit=call.connect_limit,
            size=call.disk.size,
        )
        await self.ends.start(call.transfer, spec)

    @answers(ImpexpStatus)
    async def status(self, call: ImpexpStatus) -> list[TransferProgress | None]:
        """How far each is."""
        found: Sequence[Status | None] = [await self.ends.status(name) for name in call.transfers]
        return [None if status is None else progress(status) for status in found]

    @answers(ImpexpCleanup)
    async def forget(self, call: ImpexpCleanup) -> None:
        """Stop it, and remove what is left."""
        await self.ends.remove(call.transfer)


def progress(status: Status) -> TransferProgress:
    """What the master is told."""
    return TransferProgress(
        port=status.listen_port,
        connected=status.connected,
        done=status.progress_mbytes,
        percent=status.progress_percent,
        throughput=status.progress_throughput,
        left=status.progress_eta,
        ended=status.exit_status is not None,
        error="" if not status.exit_status else status.error_message or f"exit status {status.exit_status}",
        said=status.recent_output,
    )
