"""The first disk of a container, mounted as its root."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.disk_formats import check_raw
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.process import NOT_FOUND, IProcessRunner

#: Seconds; a file system that was not unmounted before may have to be checked by the kernel.
COMMAND_TIMEOUT = 120.0
#: The exit statuses of sfdisk for what has no partition table, and of mountpoint for what is none.
_NO_TABLE = 1
_NO_MOUNT = 32
#: What mount says of a disk on which it finds nothing.
_NO_SYSTEM = "wrong fs type"


@frozen
class RootDisks:
    """Mounts and unmounts them.

    @ivar options: how each is mounted.
    """

    runner: IProcessRunner
    options: Sequence[str] = ()

    async def mount(self, disk: AttachedDisk, root: Path) -> None:
        """Mount it, or the first partition of it. @raise HypervisorError: why not."""
        check_raw(disk)
        options = ["loop", *self.options, *await self._place(disk.path)]
        options += ["ro"] if disk.spec.mode == "ro" else []
        argv = ["mount", "-o", ",".join(options), "--", disk.path, str(root)]
        result = await self.runner.run(argv, timeout=COMMAND_TIMEOUT)
        if not result.succeeded:
            said = result.stderr.decode("utf-8", "replace").strip().splitlines()[:1] or [result.describe()]
            why = said[0][:500].rstrip(".")
            advice = "; it needs a file system, which an OS for containers puts on it" if _NO_SYSTEM in why else ""
            raise HypervisorError(f"cannot mount {disk.path} as the root: {why}{advice}")

    async def unmount(self, root: Path) -> None:
        """Everything below; what is not mounted is no error. @raise HypervisorError: it is in use."""
        if not await self._is_mounted(root):
            return
        result = await self.runner.run(["umount", "--recursive", "--", str(root)], timeout=COMMAND_TIMEOUT)
        if await self._is_mounted(root):
            raise HypervisorError(
                f"cannot unmount {root}: {result.describe()}; end what uses it, which 'fuser --verbose --mount {root}' shows,"
                f" then 'umount --recursive {root}' unmounts it"
            )

    async def clear(self, files: IFiles, root: Path, directory: Path) -> None:
        """Unmount it and remove the instance's directory, which it is in. @raise HypervisorError: something is left."""
        if files.exists(root):
            await self.unmount(root)
        try:
            if files.exists(root):
                files.rmdir(root)  # before all else: a guest's files are never ours to delete
            files.remove_tree(directory)
        except OSError as error:
            raise HypervisorError(
                f"cannot remove {error.filename}: {error.strerror}; move away what is in it, and shut the instance down again"
            )

    async def missing(self) -> list[str]:
        """A line for what this node lacks for it."""
        result = await self.runner.run(["sfdisk", "--version"], timeout=COMMAND_TIMEOUT)
        return ["the program sfdisk is not on this node; install fdisk"] if result.status == NOT_FOUND else []

    async def _is_mounted(self, root: Path) -> bool:
        result = await self.runner.run(["mountpoint", "-q", "--", str(root)], timeout=COMMAND_TIMEOUT)
        if result.status not in (0, 1, _NO_MOUNT):
            raise HypervisorError(f"cannot tell whether {root} is mounted: mountpoint {result.describe()}")
        return result.status == 0

    async def _place(self, path: str) -> list[str]:
        """Where the first partition is, as options for a loop device; nothing when there are none."""
        result = await self.runner.run(["sfdisk", "--json", "--", path], timeout=COMMAND_TIMEOUT)
        if result.status == _NO_TABLE:
            return []
        if not result.succeeded:
            raise HypervisorError(f"cannot look for partitions on {path}: {result.describe()}")
        return first_partition(result.stdout, path)


def first_partition(printed: bytes, path: str) -> list[str]:
    """Of what sfdisk prints. @raise HypervisorError: a table without partitions, or not as sfdisk prints it."""
    try:
        table: dict[str, Any] = msgspec.json.decode(printed)["partitiontable"]
        size = int(table.get("sectorsize", 512))
        first = min(table.get("partitions", []), key=lambda each: int(each["start"]), default=None)
        if first is not None:
            return [f"offset={int(first['start']) * size}", f"sizelimit={int(first['size']) * size}"]
    except (msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
        raise HypervisorError(f"sfdisk tells of {path} what nobody understands: {error!r}")
    raise HypervisorError(f"{path} has a partition table, but no partition to be the root")
