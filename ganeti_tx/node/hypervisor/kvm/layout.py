"""Where the files of one instance are (the places Ganeti's tools and administrators know)."""

import os
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.names import checked_name
from ganeti_tx.runtime.paths import Paths

#: The kernel's limit for the path of a Unix socket, with its closing zero.
SOCKET_PATH_LIMIT = 108


@frozen
class InstanceLayout:
    """The files of the instance with a checked name."""

    paths: Paths
    name: str

    @property
    def pid(self) -> Path:
        """Written and, at its end, removed by QEMU."""
        return self.paths.kvm_pid_dir / self.name

    @property
    def qmp(self) -> Path:
        """The control socket: ours."""
        return self._control("qmp")

    @property
    def monitor(self) -> Path:
        """The control socket for people."""
        return self._control("monitor")

    @property
    def serial(self) -> Path:
        """The serial console's socket."""
        return self._control("serial")

    @property
    def guest_agent(self) -> Path:
        """The socket of the agent inside the guest."""
        return self._control("qga")

    @property
    def frozen(self) -> Path:
        """There while the file systems of the guest may stand still."""
        return self._control("frozen")

    @property
    def tpm(self) -> Path:
        """The socket of the program that is its TPM."""
        return self._control("tpm")

    @property
    def tpm_pid(self) -> Path:
        """Written by that program, when an older version has started it."""
        return self._control("tpm-pid")

    @property
    def runtime(self) -> Path:
        """What we remember of the instance while it runs."""
        return self.paths.kvm_conf_dir / f"{self.name}.runtime"

    @property
    def nic_dir(self) -> Path:
        """One file for each network interface, holding the name of its tap."""
        return self.paths.kvm_nic_dir / self.name

    @property
    def chroot(self) -> Path:
        """The empty directory that a chrooted QEMU sees as its root."""
        return self.paths.kvm_chroot_dir / self.name

    @property
    def log(self) -> Path:
        """What QEMU says after it went to the background."""
        return self.paths.log_kvm_dir / f"{self.name}.log"

    @property
    def sockets(self) -> tuple[Path, ...]:
        """All sockets that may have been made."""
        return (self.qmp, self.monitor, self.serial, self.guest_agent, self.tpm)

    @property
    def directories(self) -> tuple[Path, ...]:
        """What must be there before QEMU starts."""
        paths = self.paths
        return (paths.kvm_pid_dir, paths.kvm_control_dir, paths.kvm_conf_dir, paths.kvm_nic_dir, paths.log_kvm_dir)

    def _control(self, ending: str) -> Path:
        return self.paths.kvm_control_dir / f"{self.name}.{ending}"


def instance_layout(paths: Paths, name: str) -> InstanceLayout:
    """The files of one instance. @raise HypervisorError: not a name, or too long for the kernel's socket paths."""
    files = InstanceLayout(paths, checked_name(name))
    longest = max((len(os.fsencode(path)) for path in files.sockets), default=0)
    if longest >= SOCKET_PATH_LIMIT:
        raise HypervisorError(
            f"instance {name}: socket path of {longest} bytes below {paths.kvm_control_dir}, "
            f"at most {SOCKET_PATH_LIMIT - 1} are possible; use a shorter root directory or name"
        )
    return files
