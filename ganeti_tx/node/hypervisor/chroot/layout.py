"""Where the files of one instance in a chroot are."""

from pathlib import Path

from attrs import frozen

from ganeti_tx.node.hypervisor.names import checked_name
from ganeti_tx.node.hypervisor.own_directories import check_directories
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths


@frozen
class ChrootLayout:
    """The files of the instance with a checked name."""

    paths: Paths
    name: str

    @property
    def above(self) -> Path:
        """The directory with a directory for each instance."""
        return self.paths.chroot_run_dir

    @property
    def directory(self) -> Path:
        """What is there as long as anything of the instance is."""
        return self.above / self.name

    @property
    def root(self) -> Path:
        """Where its disk or its tree is mounted."""
        return self.directory / "root"

    @property
    def record(self) -> Path:
        """What we remember of the instance while it runs."""
        return self.directory / "instance.json"

    @property
    def tree(self) -> Path:
        """What the administrator has made for an instance without a disk."""
        return self.paths.chroot_tree_dir / self.name

    @property
    def log(self) -> Path:
        """What its script says, and what that starts; it stays when the instance goes."""
        return self.paths.log_chroot_dir / f"{self.name}.log"

    def check_own(self, files: IFiles) -> None:
        """@raise HypervisorError: somebody else could have said what is to be in it."""
        check_directories(files, (self.above, self.directory, self.log.parent))


def chroot_layout(paths: Paths, name: str) -> ChrootLayout:
    """As ChrootLayout says. @raise HypervisorError: it is no instance name."""
    return ChrootLayout(paths, checked_name(name))
