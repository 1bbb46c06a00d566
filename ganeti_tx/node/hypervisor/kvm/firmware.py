"""What of a machine outlives its runs beside its disks: the variables of its UEFI firmware, and the state of its TPM.

They stay on the node on which it runs. A live migration takes them along; a failover begins with new ones.
"""

from pathlib import Path

from attrs import frozen

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.names import checked_name
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

#: Where Debian's package ovmf has the firmware, and what it is called there; that for secure boot knows Microsoft's keys.
IMAGES = Path("/usr/share/OVMF")
PLAIN, SECURE = ("OVMF_CODE_4M.fd", "OVMF_VARS_4M.fd"), ("OVMF_CODE_4M.secboot.fd", "OVMF_VARS_4M.ms.fd")
MAX_VARIABLES = 4 << 20
DIRECTORY_MODE, MODE = 0o700, 0o600


@frozen
class FirmwareStore:
    """The directory of one instance, by its uuid: so it may be renamed."""

    paths: Paths
    uuid: str

    @property
    def directory(self) -> Path:
        """All of it."""
        return self.paths.kvm_firmware_dir / checked_name(self.uuid)

    @property
    def variables(self) -> Path:
        """The flash memory that the firmware writes to."""
        return self.directory / "variables.fd"

    @property
    def tpm(self) -> Path:
        """The directory of the TPM."""
        return self.directory / "tpm"


def images(params: KvmParams) -> tuple[Path, Path]:
    """The firmware, and the variables that a new machine begins with."""
    code, variables = SECURE if params.secure_boot else PLAIN
    return IMAGES / code, IMAGES / variables


@frozen
class Firmware:
    """Makes and removes what instances keep."""

    paths: Paths
    files: IFiles

    async def prepare(self, plan: QemuPlan) -> None:
        """New variables for an instance that has none here, and a place for its TPM."""
        store = FirmwareStore(self.paths, plan.spec.uuid)
        if plan.params.uefi or plan.params.tpm:
            self.files.mkdir(self.paths.kvm_firmware_dir, DIRECTORY_MODE)
            self.files.mkdir(store.directory, DIRECTORY_MODE)
        if plan.params.tpm:
            self.files.mkdir(store.tpm, DIRECTORY_MODE)
        if plan.params.uefi and not self.files.exists(store.variables):
            new = self.files.read(images(plan.params)[1], MAX_VARIABLES)
            await self.files.write_atomic(store.variables, new, MODE)

    def forget(self, uuid: str) -> None:
        """Leave nothing of it."""
        directory = FirmwareStore(self.paths, uuid).directory
        if self.files.exists(directory):
            self.files.remove_tree(directory)
