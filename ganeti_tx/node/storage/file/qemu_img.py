"""Disks of format qcow2 are made and changed by QEMU's own program, which is always told the format and never looks for it."""

from attrs import frozen

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.disk_template import QCOW2
from ganeti_tx.node.storage.file.image_options import image_options
from ganeti_tx.runtime.process import NOT_FOUND, IProcessRunner

PROGRAM = "qemu-img"
#: Seconds; with a snapshot the counters of all clusters are gone through.
LIMIT = 3600.0


@frozen
class QemuImg:
    """What is done with images that no machine has open. @raise BlockDeviceError: why it could not be."""

    runner: IProcessRunner

    async def create(self, path: str, size: int) -> None:
        """An image in a file that is there, and is empty, with so many bytes to a guest."""
        await self._run("create", "-q", "-f", QCOW2, "--", path, str(size))

    def holds(self, path: str) -> bool:
        """See `DiskHolder`: it has every image that nobody else has."""
        return True

    async def resize_disk(self, path: str, size: int) -> None:
        """See `DiskHolder`."""
        await self._run("resize", "-q", "--image-opts", "--", image_options(path), str(size))

    async def snapshot_disk(self, path: str, name: str) -> None:
        """See `DiskHolder`."""
        await self._run("snapshot", "-q", "--image-opts", "-c", name, image_options(path))

    async def drop_snapshot(self, path: str, name: str) -> None:
        """See `DiskHolder`: it is there."""
        await self._run("snapshot", "-q", "--image-opts", "-d", name, image_options(path))

    async def _run(self, *arguments: str) -> None:
        ended = await self.runner.run([PROGRAM, *arguments], timeout=LIMIT)
        if ended.status == NOT_FOUND:
            raise BlockDeviceError(f"the program {PROGRAM} is not on this node; install qemu-utils")
        if not ended.succeeded:
            raise BlockDeviceError(f"{PROGRAM} {arguments[0]} {ended.describe()}")
