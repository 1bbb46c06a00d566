"""Disks, CD-ROMs and floppies."""

from collections.abc import Mapping

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.kvm.command.options import Value, option
from ganeti_tx.node.hypervisor.kvm.command.places import Place, Places
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan

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
#: The device of a CD-ROM of each type; all of SCSI are drives that a guest knows as such.
CDROM_DEVICES: Mapping[str, str] = {
    "ide": "ide-cd",
    "paravirtual": "virtio-blk-pci",
    **dict.fromkeys(("scsi", "scsi-hd", "scsi-block", "scsi-generic", "scsi-cd"), "scsi-cd"),
}


#: QEMU's id of the SCSI controller.
CONTROLLER = "scsi"


def disk_id(uuid: str) -> str:
    """QEMU's id of a disk."""
    return f"disk-{uuid}"


def drive_id(uuid: str) -> str:
    """QEMU's id of what holds a disk's data."""
    return f"drive-{uuid}"


def thread_id(uuid: str) -> str:
    """QEMU's id of the thread that a disk has for itself."""
    return f"thread-{uuid}"


def disks_argv(plan: QemuPlan, places: Places) -> list[str]:
    """The SCSI controller, if any, and all disks in order; the first is the one to boot from."""
    argv = scsi_controller_argv(plan, places)
    for number, disk in enumerate(plan.disks):
        argv += disk_argv(plan, places, disk, number)
    return argv


def disk_argv(plan: QemuPlan, places: Places, disk: AttachedDisk, number: int) -> list[str]:
    """One disk: what holds its data, and the device the guest sees."""
    kind = plan.params.disk_type
    if kind in INTERFACES:
        return ["-drive", drive_option(plan.params, disk, kind)]
    index = plan.boot_index("disk") if number == 0 else None
    if kind == "ide":
        on_bus = plan.pci_bus == "pci.0" and number < IDE_UNITS
        place: Place = {"bus": f"ide.{number // 2}", "unit": number % 2} if on_bus else {}
    else:
        place = disk_place(plan.params, places, disk.spec.uuid)
    values = disk_device(plan.params, disk.spec.uuid, drive_id(disk.spec.uuid), place)
    device = option("", **values, bootindex=index, share_rw=True if plan.disks_come else None)
    thread = ["-object", option("iothread", id=thread_id(disk.spec.uuid))] if plan.params.disk_iothread else []
    return ["-drive", drive_option(plan.params, disk, "none"), *thread, "-device", device]


def disk_place(params: KvmParams, places: Places, uuid: str) -> Place:
    """Where a disk is that may come and go."""
    return places.slot(disk_id(uuid)) if params.disk_type == "paravirtual" else places.scsi(disk_id(uuid))


def disk_device(params: KvmParams, uuid: str, drive: str, place: Place) -> dict[str, Value]:
    """The device that the guest sees, without its place in the order of booting."""
    thread: Place = {"iothread": thread_id(uuid)} if params.disk_iothread else {}
    return {"driver": DEVICES[params.disk_type], "id": disk_id(uuid), "drive": drive, **thread, **place}


def drive_option(params: KvmParams, disk: AttachedDisk, interface: str) -> str:
    """Where the data is and how it is read and written."""
    return option(
        "",
        file=disk.uri or disk.path,
        **{"if": interface},
        id=drive_id(disk.spec.uuid),
        format=disk.spec.format,
        cache=drive_cache(params) or None,
        aio=None if disk.uri else params.disk_aio,
        discard=None if params.disk_discard == "default" else params.disk_discard,
        readonly=True if disk.spec.mode == "ro" else None,
        **reopening(params),
    )


def reopening(params: KvmParams) -> dict[str, Value]:
    """The option by which QEMU keeps to what it has opened; else it opens it anew at the end of a migration, on both sides."""
    return {"auto_read_only": False} if is_confined(params) else {}


def is_confined(params: KvmParams) -> bool:
    """Whether QEMU, once it runs, may no longer open the files of the node."""
    return params.security_model != "none" or params.use_chroot


def drive_cache(params: KvmParams) -> str:
    """How the node caches; empty: as QEMU does by itself."""
    if params.disk_aio == "native":
        return "none"  # native needs the page cache out of the way
    return "" if params.disk_cache == "default" else params.disk_cache


def scsi_controller_argv(plan: QemuPlan, places: Places) -> list[str]:
    """The controller, when anything is SCSI, or was when the machine was started from which this one takes over."""
    kinds = [plan.params.disk_type] if plan.disks else []
    kinds += [cdrom_type(plan)] if cdrom_images(plan.params) else []
    if CONTROLLER not in places.given and not any(kind.startswith("scsi") for kind in kinds):
        return []
    return ["-device", option(plan.params.scsi_controller_type, id=CONTROLLER, **places.slot(CONTROLLER))]


def cdrom_images(params: KvmParams) -> list[str]:
    """The images of the CD-ROM drives that are there."""
    return [image for image in (params.cdrom_image_path, params.cdrom2_image_path) if image]


def cdrom_type(plan: QemuPlan) -> str:
    """On which bus CD-ROMs are: as they are told to be, else as the disks are.

    QEMU's own firmware boots from no CD-ROM on the bus of paravirtual disks, and so one that it is to boot from is on IDE.
    """
    if plan.params.cdrom_disk_type:
        return plan.params.cdrom_disk_type
    return "ide" if plan.boot_index("cdrom") is not None else plan.params.disk_type


def removable_argv(plan: QemuPlan, places: Places) -> list[str]:
    """CD-ROMs and the floppy."""
    argv: list[str] = []
    for number, image in enumerate(cdrom_images(plan.params)):
        drive = f"cdrom{number}"
        if (kind := cdrom_type(plan)) in INTERFACES:
            argv += ["-drive", option("", file=image, **{"if": kind}, id=drive, format="raw", readonly=True)]
            continue
        device = CDROM_DEVICES[kind]
        placement = places.slot(drive) if device == "virtio-blk-pci" else {}
        index = plan.boot_index("cdrom") if number == 0 else None
        source = option("", file=image, **{"if": "none"}, media="cdrom", id=drive, format="raw", readonly=True)
        argv += ["-drive", source, "-device", option(device, drive=drive, **placement, bootindex=index)]
    if plan.params.floppy_image_path:
        source = option("", file=plan.params.floppy_image_path, **{"if": "none"}, id="floppy0", format="raw")
        argv += ["-drive", source, "-device", option("floppy", drive="floppy0", bootindex=plan.boot_index("floppy"))]
    return argv
