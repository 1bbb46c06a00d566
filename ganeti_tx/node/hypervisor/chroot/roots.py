"""What an instance's root is: its one disk, or a tree that the administrator has made for an instance without disks."""

from collections.abc import Sequence

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisor import Shape
from ganeti_tx.model.hypervisors.chroot import unfit
from ganeti_tx.node.hypervisor.chroot.layout import ChrootLayout
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.parameters import refuse_any
from ganeti_tx.node.hypervisor.root_disk import COMMAND_TIMEOUT, RootDisks
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.process import IProcessRunner


@frozen
class Roots:
    """Mounts and unmounts them. A mount hides nothing of a tree, and keeps apart what its script mounts in it."""

    files: IFiles
    runner: IProcessRunner
    disks: RootDisks

    def check(self, layout: ChrootLayout, disks: int) -> None:
        """@raise HypervisorError: this cannot be a root."""
        refuse_any(unfit({}, Shape(memory=0, vcpus=0, disks=disks)))
        if not disks and not (self.files.exists(layout.tree) and self.files.stat(layout.tree).is_directory):
            raise HypervisorError(
                f"it has no disk, and there is no directory {layout.tree} to be its root; make it, with all that it needs"
            )

    async def mount(self, layout: ChrootLayout, disks: Sequence[AttachedDisk]) -> None:
        """@raise HypervisorError: why not; it may be mounted all the same."""
        if disks:
            await self.disks.mount(disks[0], layout.root)
        else:
            await self._mount("--bind", "--", str(layout.tree), str(layout.root))
        await self._mount("--make-private", "--", str(layout.root))

    async def clear(self, layout: ChrootLayout) -> None:
        """Unmount it with all that is mounted in it, and remove what the instance has here. @raise HypervisorError: it is used."""
        await self.disks.clear(self.files, layout.root, layout.directory)

    async def _mount(self, *words: str) -> None:
        result = await self.runner.run(["mount", *words], timeout=COMMAND_TIMEOUT)
        if not result.succeeded:
            raise HypervisorError(f"cannot mount its root {words[-1]}: {result.describe()}")
