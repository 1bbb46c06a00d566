"""The firmware, when it is not QEMU's own, and the TPM."""

from ganeti_tx.node.hypervisor.kvm.command.disks import reopening
from ganeti_tx.node.hypervisor.kvm.command.options import option
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.kvm.firmware import FirmwareStore, images


def uefi_argv(plan: QemuPlan) -> list[str]:
    """The firmware as flash memory that cannot be written, and behind it the variables; with secure boot only the firmware itself,
    in its system management mode, may write them."""
    if not plan.params.uefi:
        return []
    code, _ = images(plan.params)
    variables = FirmwareStore(plan.paths, plan.spec.uuid).variables
    argv = ["-drive", option("", **{"if": "pflash"}, unit=0, format="raw", file=str(code), readonly=True)]
    opened = {"file": str(variables), **reopening(plan.params)}
    argv += ["-drive", option("", **{"if": "pflash"}, unit=1, format="raw", **opened)]
    if plan.params.secure_boot:
        argv += ["-global", "driver=cfi.pflash01,property=secure,value=on"]
        argv += ["-global", "ICH9-LPC.disable_s3=1"]  # a guest that wakes up would pass by the firmware's checks
    return argv


def tpm_argv(plan: QemuPlan) -> list[str]:
    """A TPM 2.0, which a program of its own is."""
    if not plan.params.tpm:
        return []
    return [
        *("-chardev", option("socket", id="tpm", path=str(plan.files.tpm))),
        *("-tpmdev", option("emulator", id="tpm0", chardev="tpm")),
        *("-device", option("tpm-crb", tpmdev="tpm0")),
    ]
