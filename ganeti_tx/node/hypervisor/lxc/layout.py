"""Where the files of one container are."""

from pathlib import Path

from attrs import frozen

from ganeti_tx.node.hypervisor.names import checked_name
from ganeti_tx.node.hypervisor.own_directories import check_directories
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths


@frozen
class ContainerLayout:
    """The files of the instance with a checked name; LXC knows a container by the directory above and its name."""

    paths: Paths
    name: str

    @property
    def above(self) -> Path:
        """The directory with a directory for each container."""
        return self.paths.lxc_run_dir

    @property
    def directory(self) -> Path:
        """What is there as long as anything of the instance is."""
        return self.above / self.name

    @property
    def config(self) -> Path:
        """What LXC is told."""
        return self.directory / "config"

    @property
    def root(self) -> Path:
        """Where the first disk is mounted."""
        return self.directory / "rootfs"

    @property
    def record(self) -> Path:
        """What we remember of the instance while it runs."""
        return self.directory / "instance.json"

    @property
    def log(self) -> Path:
        """What LXC says of its start."""
        return self.directory / "log"

    def check_own(self, files: IFiles) -> None:
        """@raise HypervisorError: somebody else could have said what is to be in it."""
        check_directories(files, (self.above, self.directory))


def container_layout(paths: Paths, name: str) -> ContainerLayout:
    """As ContainerLayout says. @raise HypervisorError: it is no instance name."""
    return ContainerLayout(paths, checked_name(name))
