"""Node calls about the bytes of disks on their way to and from other nodes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import define

from ganeti_tx.model.compression import packing, unpacking
from ganeti_tx.node.answers import answers
from ganeti_tx.node.storage.streams import amounts, read_command, write_command
from ganeti_tx.node.storage.tree import DeviceTree
from ganeti_tx.node.transfer.interfaces import ITransferEnds
from ganeti_tx.node.transfer.spec import Spec, Status
from ganeti_tx.node.transfer_keys import CERTIFICATE, KEY
from ganeti_tx.rpc.calls.transfer import (
    ExportStart,
    ImpexpCleanup,
    ImpexpRelease,
    ImpexpStatus,
    ImportStart,
    RemotePeer,
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
        storage, status = self.tree.of(call.disk), await self.tree.found(call.disk)
        command = write_command(storage, call.disk, status)
        least, most = amounts(storage, call.disk)
        spec = receiving(self.paths, call, command, size=call.disk.size, least=least, most=most)
        await self.ends.start(call.transfer, spec)

    @answers(ExportStart)
    async def send(self, call: ExportStart) -> None:
        """Begin to send."""
        storage, status = self.tree.of(call.disk), await self.tree.found(call.disk)
        command = read_command(storage, call.disk, status)
        await self.ends.start(call.transfer, sending(self.paths, call, call.port, command, size=call.disk.size))

    @answers(ImpexpStatus)
    async def status(self, call: ImpexpStatus) -> list[TransferProgress | None]:
        """How far each is."""
        found: Sequence[Status | None] = [await self.ends.status(name) for name in call.transfers]
        return [None if status is None else progress(status) for status in found]

    @answers(ImpexpRelease)
    async def release(self, call: ImpexpRelease) -> None:
        """Its bytes are taken for good."""
        await self.ends.release(call.transfer)

    @answers(ImpexpCleanup)
    async def forget(self, call: ImpexpCleanup) -> None:
        """Stop it, and remove what is left."""
        await self.ends.remove(call.transfer)


def sending(
    paths: Paths, call: TransferStart[None], port: int, command: Sequence[str], *, size: int, **more: Any
) -> Spec:
    """What the end is told that connects to a port. @param more: of `Spec`."""
    return Spec(
        sends=True,
        command=[*command],
        filter=[*packing(call.compress)],
        magic=call.magic,
        host=call.address,
        port=port,
        peer=call.peer,
        connect_limit=call.connect_limit,
        size=size,
        **(known_by(paths, call.remote) or at_home(paths, paths.client_pem, pins=paths.ssconf_file("node_certs"))),
        **more,
    )


def receiving(paths: Paths, call: TransferStart[None], command: Sequence[str], *, size: int, **more: Any) -> Spec:
    """What the end is told that listens. @param more: of `Spec`."""
    return Spec(
        sends=False,
        command=[*command],
        filter=[*unpacking(call.compress)],
        magic=call.magic,
        host=call.address,
        port=0,
        peer=call.peer,
        connect_limit=call.connect_limit,
        size=size,
        holds=call.holds,
        **(known_by(paths, call.remote) or at_home(paths, paths.server_pem)),
        **more,
    )


def at_home(paths: Paths, identity: Path, **more: Path) -> dict[str, Any]:
    """How ends of one cluster know one another."""
    files = {"identity": identity, "authority": paths.authority_pem, **more}
    return {key: str(file) for key, file in files.items()}


def known_by(paths: Paths, remote: RemotePeer | None) -> dict[str, Any]:
    """How ends of two clusters do; nothing if they are of one."""
    if remote is None:
        return {}
    directory = paths.crypto_keys_dir / remote.key
    return {
        "identity": str(directory / CERTIFICATE),
        "key": str(directory / KEY),
        "authority": "",
        "certificate": remote.certificate,
    }


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
        sha256=status.sha256,
        filled=status.filled,
    )
