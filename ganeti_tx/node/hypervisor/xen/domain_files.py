"""The files of a domain: what is remembered of it, and what its scripts and xl are told."""

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.instance_record import save, write
from ganeti_tx.node.hypervisor.xen.config_file import config_text, is_ours
from ganeti_tx.node.hypervisor.xen.guest import Guest
from ganeti_tx.node.hypervisor.xen.kind import XenKind
from ganeti_tx.node.hypervisor.xen.layout import DIRECTORY_MODE, DomainLayout
from ganeti_tx.node.hypervisor.xen.nic_files import write_nics
from ganeti_tx.node.hypervisor.xen.record import DomainRecord
from ganeti_tx.runtime.files import IFiles

#: Of Xen's own directory, and of a configuration, which has the password of the display.
CONFIG_DIRECTORY_MODE = 0o755
CONFIG_MODE = 0o600


@frozen
class DomainFiles:
    """Written before a domain is made, and removed when it is gone; what others have put in their places stays."""

    files: IFiles
    kind: XenKind

    async def write(self, layout: DomainLayout, guest: Guest) -> None:
        """What is remembered comes first: nothing is made of which nobody knows whose it is.

        @raise HypervisorError: the disk does not take it, or others have a file there; some may be written.
        """
        if self.files.exists(layout.config) and not is_ours(self.files, layout.config):
            raise HypervisorError(f"{layout.config} is there, which was not written for this instance; remove it")
        record = self._record(guest)
        self.files.mkdir(layout.directory, DIRECTORY_MODE)
        layout.check_own(self.files)
        await save(self.files, layout.record, record)
        await write_nics(self.files, layout, guest.spec)
        self.files.mkdir(layout.config.parent, CONFIG_DIRECTORY_MODE)
        await write(self.files, layout.config, config_text(self.kind, guest).encode(), CONFIG_MODE)

    def _record(self, guest: Guest) -> DomainRecord:
        return DomainRecord(
            uuid=guest.spec.uuid,
            memory=guest.memory,
            vcpus=guest.vcpus,
            stays=guest.stays,
            exits_on_reboot=self.kind.params(guest.spec.hvparams).reboot_behavior == "exit",
            disks=[disk.path for disk in guest.disks],
        )

    def clear(self, layout: DomainLayout) -> None:
        """Those of what is no more. @raise HypervisorError: others are among them, which stay, or could be."""
        layout.check_own(self.files)
        if foreign := [name for name in self._kept(layout) if not layout.is_own(name)]:
            raise HypervisorError(
                f"instance {layout.name}: {layout.directory / foreign[0]} was not written for it; move it away"
            )
        try:
            if is_ours(self.files, layout.config):
                self.files.remove(layout.config)
            if self.files.exists(layout.directory):
                self.files.remove_tree(layout.directory)
        except OSError as error:
            raise HypervisorError(f"instance {layout.name}: cannot remove {error.filename}: {error.strerror}")

    def _kept(self, layout: DomainLayout) -> list[str]:
        return self.files.listdir(layout.directory) if self.files.exists(layout.directory) else []
