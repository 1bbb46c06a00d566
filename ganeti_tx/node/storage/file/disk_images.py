"""Disks of format qcow2: what is done with their images, by whoever may do it."""

import json
import re
import sys
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.file import with_view
from ganeti_tx.node.storage.file.image_options import image_options
from ganeti_tx.node.storage.file.qemu_img import QemuImg
from ganeti_tx.node.storage.holders import DiskHolder, DiskHolders
from ganeti_tx.node.storage.raw_view import RawView

#: What a file of the directory of views may be called.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")


@frozen
class DiskImages:
    """A machine that runs is asked to do it; else QEMU's program does. @raise BlockDeviceError: it could not be.

    @ivar views: the directory in which programs see the bytes of images.
    """

    program: QemuImg
    holders: DiskHolders
    views: Path

    async def create(self, path: str, size: int) -> None:
        """An image in a file that is there, and is empty."""
        await self.program.create(path, size)

    async def resize(self, path: str, size: int) -> None:
        """Let it have so many bytes."""
        await self._by(path).resize_disk(path, size)

    async def snapshot(self, path: str, name: str) -> None:
        """Keep what it has now, within it."""
        await self._by(path).snapshot_disk(path, name)

    async def drop_snapshot(self, path: str, name: str) -> None:
        """Forget that."""
        await self._by(path).drop_snapshot(path, name)

    def _by(self, path: str) -> DiskHolder:
        return self.holders.of(path) or self.program

    def view(self, uuid: str, path: str, snapshot: str, writable: bool) -> RawView:
        """What programs see of an image, or of a snapshot within it."""
        if not _NAME.fullmatch(uuid):
            raise BlockDeviceError(f"{path}: {uuid!r:.100} is no uuid of a disk")
        told = {
            "at": uuid,
            "path": path,
            "writable": writable,
            "snapshot": snapshot,
            "options": image_options(path, **{"force-share": "on"}),
        }
        program = [sys.executable, "-I", "-S", with_view.__file__, str(self.views)]
        prefix, filling = ([*program, json.dumps({**told, "output": output}), "--"] for output in (False, True))
        return RawView(str(self.views / uuid), prefix, filling)
