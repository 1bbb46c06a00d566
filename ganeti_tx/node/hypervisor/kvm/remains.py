"""Clearing away what an instance leaves when its QEMU has ended."""

from contextlib import suppress
from pathlib import Path

from attrs import frozen

from ganeti_tx.node.hypervisor.kvm.command.display import vnc_socket
from ganeti_tx.node.hypervisor.kvm.control_group import ControlGroup
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.network import Network
from ganeti_tx.node.hypervisor.kvm.nic_files import named_taps
from ganeti_tx.node.hypervisor.kvm.own_directories import check_own
from ganeti_tx.node.hypervisor.kvm.state import InstanceRuntime
from ganeti_tx.node.hypervisor.kvm.tpm import SoftwareTpm
from ganeti_tx.node.hypervisor.kvm.uid_pool import UidPool
from ganeti_tx.runtime.files import IFiles


@frozen
class Remains:
    """Removes taps, sockets, files and the user id of an instance that does not run."""

    files: IFiles
    network: Network
    uids: UidPool
    tpm: SoftwareTpm
    group: ControlGroup

    async def clear(self, layout: InstanceLayout, state: InstanceRuntime | None) -> None:
        """Leave nothing; the state goes last, so that a failure can be made up for later.

        @raise HypervisorError: a tap cannot be removed, or somebody else could have said what is to be.
        """
        check_own(self.files, layout.paths)
        if state is not None:
            await self.network.release(state.nics)
            if state.uid is not None:
                self.uids.give_back(state.uid)
            self.group.leave(state.uuid)
            self._clear_display(state)
        else:
            await self.network.release(named_taps(self.files, layout))
        await self.tpm.end(layout)
        for path in (layout.pid, layout.tpm_pid, layout.frozen, *layout.sockets):
            self._remove(path)
        self._clear_nics(layout.nic_dir)
        self._clear_chroot(layout)
        self._remove(layout.runtime)

    def _clear_display(self, state: InstanceRuntime) -> None:
        """The socket for VNC is where the administrator wants it; what cannot be removed there is in nobody's way."""
        directory = state.params.vnc_bind_address if state.params is not None else ""
        if directory.startswith("/"):
            with suppress(OSError):
                self._remove(vnc_socket(directory, state.name))

    def _clear_nics(self, directory: Path) -> None:
        if self.files.exists(directory):
            for name in self.files.listdir(directory):
                self._remove(directory / name)
            self.files.rmdir(directory)

    def _clear_chroot(self, layout: InstanceLayout) -> None:
        """A chroot that is not empty holds what an intruder left: it is kept aside to be looked at."""
        directory = layout.chroot
        if not self.files.exists(directory):
            return
        if not self.files.listdir(directory):
            self.files.rmdir(directory)
            return
        quarantine = layout.paths.kvm_chroot_quarantine_dir
        self.files.mkdir(quarantine, 0o700)
        taken = set(self.files.listdir(quarantine))
        number = next(n for n in range(len(taken) + 1) if f"{layout.name}-{n}" not in taken)
        self.files.rename(directory, quarantine / f"{layout.name}-{number}")

    def _remove(self, path: Path) -> None:
        try:
            self.files.remove(path)
        except FileNotFoundError:
            pass
