"""Filling disks with zeros, so that nobody finds in them what others have left."""

from attrs import define

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.answers import answers
from ganeti_tx.node.storage.tree import DeviceTree
from ganeti_tx.node.storage.views import view_of
from ganeti_tx.rpc.calls.disk import BlockdevWipe
from ganeti_tx.runtime.process import IProcessRunner


@define
class Wiping:
    """A program of the system does it (reference: storage-rules.json, wipe)."""

    tree: DeviceTree
    runner: IProcessRunner

    @answers(BlockdevWipe)
    async def wipe(self, call: BlockdevWipe) -> None:
        """@raise BlockDeviceError: the disk is not so large, has no path here, or the program failed."""
        disk = call.disk
        status = await self.tree.found(disk)
        if call.offset < 0 or call.size <= 0 or call.offset + call.size > status.size:
            raise BlockDeviceError(
                f"{disk.dev_type} disk {disk.uuid}: {call.size} MiB from {call.offset} MiB on cannot be wiped, as it has"
                f" {status.size} MiB"
            )
        if not status.dev_path:
            raise BlockDeviceError(f"{disk.dev_type} disk {disk.uuid} cannot be wiped: it has no path on this node")
        view = view_of(self.tree.of(disk), disk, status.dev_path, writable=True)
        argv = [*view.prefix, *wipe_argv(view.path, call.offset, call.size)]
        ended = await self.runner.run(argv, timeout=call.time_limit())
        if not ended.succeeded:
            raise BlockDeviceError(f"cannot wipe {status.dev_path}: dd {ended.describe()}")


def wipe_argv(path: str, offset: int, size: int) -> list[str]:
    """Zeros to a part of a device or a file that is there; MiB."""
    return [
        *("dd", "if=/dev/zero", f"of={path}", "bs=1M"),
        *(f"seek={offset}", f"count={size}", "conv=nocreat,notrunc,fsync", "status=none"),
    ]
