"""The stable names of an instance's disks: RUN/instance-disks/INSTANCE:INDEX leads to the disk while it is ready."""

from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

DIRECTORY_MODE = 0o755


@frozen
class DiskLinks:
    """One link for each disk of an instance that is ready on this node."""

    files: IFiles
    paths: Paths

    def link(self, instance_name: str, index: int, dev_path: str) -> Path:
        """Let the link lead to the disk, whatever it led to before. @raise BlockDeviceError: it cannot be made."""
        link = self.path(instance_name, index)
        try:
            self.files.mkdir(link.parent, DIRECTORY_MODE)
            self.files.symlink(link, dev_path)
        except OSError as error:
            raise BlockDeviceError(f"cannot link {link} to {dev_path}: {error.strerror}") from None
        return link

    def target(self, instance_name: str, index: int) -> str | None:
        """What the link leads to; None when there is none."""
        try:
            return self.files.readlink(self.path(instance_name, index))
        except OSError:
            return None

    def restore(self, instance_name: str, index: int, target: str | None) -> None:
        """Let the link lead to what it led to before, or be gone as it was. @raise BlockDeviceError: it cannot be."""
        if target is None:
            self.unlink(instance_name, index)
        else:
            self.link(instance_name, index, target)

    def unlink(self, instance_name: str, index: int) -> None:
        """Remove the link if it is there. @raise BlockDeviceError: it stays."""
        self._remove(self.path(instance_name, index))

    def unlink_all(self, instance_name: str) -> None:
        """Remove what links there are of an instance, though it may have fewer disks now. @raise BlockDeviceError."""
        directory = self.paths.instance_disks_dir
        try:
            names = self.files.listdir(directory)
        except FileNotFoundError:
            return
        for name in names:
            if name.rpartition(":")[0] == instance_name:
                self._remove(directory / name)

    def path(self, instance_name: str, index: int) -> Path:
        """The link of a disk. @raise BlockDeviceError: there can be none."""
        if not instance_name or "/" in instance_name or "\0" in instance_name or index < 0:
            raise BlockDeviceError(f"no link can be named after disk {index} of instance {instance_name!r}")
        return self.paths.instance_disk_link(instance_name, index)

    def _remove(self, link: Path) -> None:
        try:
            self.files.remove(link)
        except FileNotFoundError:
            return
        except OSError as error:
            raise BlockDeviceError(f"cannot remove {link}: {error.strerror}") from None
