"""Where the files of one domain are."""

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from ganeti_tx.node.hypervisor.names import checked_name
from ganeti_tx.node.hypervisor.own_directories import check_directories
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

#: Of all directories of ours.
DIRECTORY_MODE = 0o750


def above(paths: Paths, kind: str) -> Path:
    """The directory with a directory for each instance of one of the two hypervisors."""
    return paths.xen_run_dir / kind


@frozen
class DomainLayout:
    """The files of the instance with a checked name."""

    paths: Paths
    kind: str
    name: str

    @property
    def config(self) -> Path:
        """What xl is told; has the password of the display."""
        return self.paths.xen_config_dir / self.name

    @property
    def directory(self) -> Path:
        """What is there as long as anything of the instance is."""
        return above(self.paths, self.kind) / self.name

    @property
    def record(self) -> Path:
        """What we remember of the instance while it runs."""
        return self.directory / "domain.json"

    @property
    def nics(self) -> Path:
        """A file for each interface, for the script that connects it."""
        return self.directory / "nics"

    @property
    def move(self) -> Path:
        """What we remember of a migration; nothing when there is none."""
        return self.directory / "migration.json"

    @property
    def log(self) -> Path:
        """What the programs of the last migration have said; stays, for whoever looks into it."""
        return self.paths.log_xen_dir / f"{self.name}-migration.log"

    @property
    def emulator_log(self) -> Path:
        """Where xl has the QEMU of a fully virtualised domain write."""
        return self.paths.xen_own_log_dir / f"qemu-dm-{self.name}.log"

    @property
    def relay(self) -> Path:
        """The process id of the program between the two nodes, as long as it runs."""
        return self.directory / "relay.pid"

    @property
    def own_key(self) -> Path:
        """The key and certificate by which this node is known to the other one of a migration, as long as that is remembered."""
        return self.directory / "own.pem"

    @property
    def peer(self) -> Path:
        """The other one's certificate, for as long."""
        return self.directory / "peer.pem"

    @property
    def of_move(self) -> Sequence[Path]:
        """All that is there for a migration only."""
        return self.move, self.relay, self.own_key, self.peer

    def is_own(self, name: str) -> bool:
        """Whether a file of that name in its directory can be ours; socat has more beside that with its process id."""
        ours = (self.record, self.nics, *self.of_move)
        return name in {path.name for path in ours} or name.startswith(self.relay.name)

    def check_own(self, files: IFiles) -> None:
        """@raise HypervisorError: somebody else could have said what is to be in it."""
        check_directories(
            files, (self.paths.xen_run_dir, self.directory.parent, self.directory, self.nics, self.log.parent)
        )


def domain_layout(paths: Paths, kind: str, name: str) -> DomainLayout:
    """As DomainLayout says. @raise HypervisorError: it is no instance name."""
    return DomainLayout(paths, kind, checked_name(name))
