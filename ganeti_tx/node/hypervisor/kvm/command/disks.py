"""Disks, CD-ROMs and floppies."""

from collections.abc import Mapping

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.kvm.command.options import option
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.kvm.command.slots import PciSlots

#: The device of each `disk_type`; those without one hang on their own bus by the drive alone.
DEVICES: Mapping[str, str] = {
    "paravirtual": "virtio-blk-pci",
    "ide": "ide-hd",
    "scsi": "scsi-hd",
    "scsi-hd": "scsi-hd",
    "scsi-block": "scsi-block",
    "scsi-generic": "scsi-generic",
    "scsi-cd": "scsi-cd",
}
#: The interface of the drive for the others.
INTERFACES = ("sd", "mtd", "pflash")
IDE_UNITS = 4
CDROM_DEVICES: Mapping[str, str] = {
    "": "ide-cd",
    "ide": "ide-cd",
    "paravirtual": "virtio-blk-pci",
    "scsi": "scsi-cd",
    "scsi-cd": "scsi-cd",
}


def disk_id(uuid: str) -> str:
    """QEMU's id of a disk."""
    return f"disk-{uuid}"


def disks_argv(plan: QemuPlan, slots: PciSlots) -> list[str]:
    """The SCSI controller, if any, and all disks in order; the first is the one to boot from."""
    argv = scsi_controller_argv(plan, slots)
    for place, disk in enumerate(plan.disks):
        argv += disk_argv(plan, slots, disk, place)
    return argv


def disk_argv(plan: QemuPlan, slots: PciSlots, disk: AttachedDisk, place: int) -> list[str]:
    """One disk: what holds its data, and the device the guest sees."""
    kind = plan.params.disk_type
    drive = f"drive-{disk.spec.uuid}"
    interface = kind if kind in INTERFACES else "none"
    if interface != "none":
        return ["-drive", drive_option(plan.params, disk, interface, drive)]
    placement: dict[str, str | int] = {}
    if kind == "paravirtual":
        placement.update(slots.take())
    elif kind == "ide" and plan.pci_bus == "pci.0" and place < IDE_UNITS:
        placement.update(bus=f"ide.{place // 2}", unit=place % 2)
    elif kind.startswith("scsi"):
        placement.update(bus="scsi.0", channel=0, scsi_id=place, lun=0)
    index = plan.boot_index("disk") if place == 0 else None
    device = option(DEVICES[kind], id=disk_id(disk.spec.uuid), drive=drive, **placement, bootindex=index)
    return ["-drive", drive_option(plan.params, disk, interface, drive), "-device", device]


def drive_option(params: KvmParams, disk: AttachedDisk, interface: str, drive: str) -> str:
    """Where the data is and how it is read and written."""
    cache = params.disk_cache
    if cache == "default":
        cache = "none" if params.disk_aio == "native" else ""  # native needs the page cache out of the way
    return option(
        "",
        file=disk.uri or disk.path,
        **{"if": interface},
        id=drive,
        format="raw",
        cache=cache or None,
        aio=None if disk.uri else params.disk_aio,
        discard=None if params.disk_discard == "default" else params.disk_discard,
        readonly=True if disk.spec.mode == "ro" else None,
    )


def scsi_controller_argv(plan: QemuPlan, slots: PciSlots) -> list[str]:
    """The controller, when anything is SCSI."""
    kinds = [plan.params.disk_type] if plan.disks else []
    kinds += [plan.params.cdrom_disk_type] if cdrom_images(plan.params) else []
    if not any(kind.startswith("scsi") for kind in kinds):
        return []
    return ["-device", option(plan.params.scsi_controller_type, id="scsi", **slots.take())]


def cdrom_images(params: KvmParams) -> list[str]:
    """The images of the CD-ROM drives that are there."""
    return [image for image in (params.cdrom_image_path, params.cdrom2_image_path) if image]


def removable_argv(plan: QemuPlan, slots: PciSlots) -> list[str]:
    """CD-ROMs and the floppy."""
    argv: list[str] = []
    for number, image in enumerate(cdrom_images(plan.params)):
        drive = f"cdrom{number}"
        device = CDROM_DEVICES[plan.params.cdrom_disk_type]
        placement = slots.take() if device == "virtio-blk-pci" else {}
        index = plan.boot_index("cdrom") if number == 0 else None
        source = option("", file=image, **{"if": "none"}, media="cdrom", id=drive, format="raw", readonly=True)
        argv += ["-drive", source, "-device", option(device, drive=drive, **placement, bootindex=index)]
    if plan.params.floppy_image_path:
        source = option("", file=plan.params.floppy_image_path, **{"if": "none"}, id="floppy0", format="raw")
        argv += ["-drive", source, "-device", option("floppy", drive="floppy0", bootindex=plan.boot_index("floppy"))]
    return argv
