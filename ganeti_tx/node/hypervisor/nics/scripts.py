"""The administrator's own scripts for interfaces, in /etc/ganeti (Ganeti 3.0 network table, user_script)."""

from pathlib import Path
from typing import Protocol

from attrs import frozen

from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

EXECUTABLE = 0o111


class Scripts(Protocol):
    """Which scripts have a say."""

    @property
    def up(self) -> Path | None:
        """What connects an interface in place of all that we do, if there is one."""

    @property
    def down(self) -> Path | None:
        """What is run besides when an interface goes."""

    @property
    def communication(self) -> Path | None:
        """What is run besides for an interface by which an instance talks to its node."""


@frozen
class NoScripts:
    """None, such as for what is done on behalf of one."""

    up: Path | None = None
    down: Path | None = None
    communication: Path | None = None


@frozen
class UserScripts:
    """Those for one hypervisor: of `kind` "kvm" they are called kvm-vif-bridge, ... One that cannot be executed is not there."""

    files: IFiles
    paths: Paths
    kind: str

    @property
    def up(self) -> Path | None:
        """See `Scripts`."""
        return self._first("vif-bridge", "ifup-custom")

    @property
    def down(self) -> Path | None:
        """See `Scripts`."""
        return self._first("ifdown-custom")

    @property
    def communication(self) -> Path | None:
        """See `Scripts`."""
        return self._first("ifup-os")

    def _first(self, *names: str) -> Path | None:
        paths = (self.paths.conf_dir / f"{self.kind}-{name}" for name in names)
        return next((path for path in paths if self._usable(path)), None)

    def _usable(self, path: Path) -> bool:
        return self.files.exists(path) and bool(self.files.stat(path).mode & EXECUTABLE)
