"""KVM: instances are QEMU processes of their node (Ganeti 3.0 configuration table)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from pathlib import Path

from msgspec import UNSET, UnsetType

from ganeti_tx.model.base import Params, Wire
from ganeti_tx.model.disk_template import QCOW2, RAW
from ganeti_tx.model.hypervisor import (
    ADDRESSES,
    KERNELS,
    MIGRATION_MODES,
    ConsoleKind,
    HypervisorKind,
    Shape,
    mask_misfits,
)
from ganeti_tx.model.kvm_values import BOUNDS, FORMS, MOVE_BOUNDS

#: The built-in value of `kvm_path`, and the same program by the name every QEMU package gives it.
DEFAULT_PROGRAM = "/usr/bin/kvm"
OTHER_PROGRAM = "/usr/bin/qemu-system-x86_64"

DISK_TYPES = (
    *("paravirtual", "ide", "scsi", "scsi-hd", "scsi-block", "scsi-generic", "scsi-cd", "sd", "mtd", "pflash"),
)

#: Kinds of disks that are seen as the guest is told to; by the others it sends any command to the node's device.
_SEEN_DISKS = "|".join(("", *(each for each in DISK_TYPES if each not in ("scsi-block", "scsi-generic"))))

#: The values QEMU 7.2 (and Ganeti's table) know, by parameter.
CHOICES: Mapping[str, Sequence[str | int]] = {
    "migration_mode": MIGRATION_MODES,
    "disk_aio": ("threads", "native", "io_uring"),
    "disk_cache": ("default", "none", "writeback", "writethrough", "directsync", "unsafe"),
    "disk_discard": ("default", "ignore", "unmap"),
    "disk_type": DISK_TYPES,
    "cdrom_disk_type": ("", *DISK_TYPES),
    "kvm_flag": ("", "enabled", "disabled"),
    "nic_type": (
        *("paravirtual", "e1000", "rtl8139", "ne2k_pci", "ne2k_isa", "i82551", "i82557b", "i82559er", "pcnet"),
    ),
    "reboot_behavior": ("reboot", "exit"),
    "scsi_controller_type": ("lsi", "virtio-scsi-pci", "megasas"),
    "security_model": ("none", "user", "pool"),
    "serial_speed": (
        *(75, 110, 300, 600, 1200, 1800, 2400, 4800, 9600, 14400, 19200, 28800, 38400, 57600, 115200, 230400, 345600),
        460800,
    ),
    "spice_image_compression": ("", "auto_glz", "auto_lz", "quic", "glz", "lz", "off"),
    "spice_ip_version": (0, 4, 6),
    "spice_jpeg_wan_compression": ("", "auto", "never", "always"),
    "spice_streaming_video": ("", "off", "all", "filter"),
    "spice_zlib_glz_wan_compression": ("", "auto", "never", "always"),
    "usb_mouse": ("", "mouse", "tablet"),
    "vga": ("", "std", "cirrus", "vmware", "qxl", "virtio", "none"),
}


class KvmParams(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """How KVM runs an instance; migration_bandwidth in MiB/s, migration_downtime in milliseconds.

    Those that Ganeti does not know are unset, and stand in no configuration, until somebody sets them.

    @ivar cpu_limit: percent of one processor; `memory_limit` in MiB, for QEMU and its guest together.
    @ivar cpu_weight: beside other machines of the node, where 100 is usual; so is `io_weight`.
    @ivar disk_iothread: whether each disk gets a thread of its own in QEMU.
    @ivar migration_tls: whether what is sent to another node is encrypted, and both nodes prove who they are; so it is, too,
        as long as it is unset.
    @ivar max_memory: up to how many MiB it can get while it runs, and `max_vcpus` processors.
    """

    acpi: bool = True
    boot_order: str = "disk"
    cdrom2_image_path: str = ""
    cdrom_disk_type: str = ""
    cdrom_image_path: str = ""
    cpu_cores: int = 0
    cpu_mask: str = "all"
    cpu_sockets: int = 0
    cpu_threads: int = 0
    cpu_type: str = ""
    disk_aio: str = "threads"
    disk_cache: str = "default"
    disk_discard: str = "default"
    disk_type: str = "paravirtual"
    floppy_image_path: str = ""
    initrd_path: str = ""
    kernel_args: str = "ro"
    kernel_path: str = "/boot/vmlinuz-3-kvmU"
    keymap: str = ""
    kvm_extra: str = ""
    kvm_flag: str = ""
    kvm_path: str = DEFAULT_PROGRAM
    kvm_pci_reservations: int = 12
    machine_version: str = ""
    mem_path: str = ""
    migration_bandwidth: int = 32
    migration_caps: str = ""
    migration_downtime: int = 30
    migration_mode: str = "live"
    migration_port: int = 8102
    nic_type: str = "paravirtual"
    reboot_behavior: str = "reboot"
    root_path: str | None = "/dev/vda1"
    scsi_controller_type: str = "lsi"
    security_domain: str = ""
    security_model: str = "none"
    serial_console: bool = True
    serial_speed: int = 38400
    soundhw: str = ""
    spice_bind: str = ""
    spice_image_compression: str = ""
    spice_ip_version: int = 0
    spice_jpeg_wan_compression: str = ""
    spice_password_file: str = ""
    spice_playback_compression: bool = True
    spice_streaming_video: str = ""
    spice_tls_ciphers: str = "HIGH:-DES:-3DES:-EXPORT:-DH"
    spice_use_tls: bool = False
    spice_use_vdagent: bool = True
    spice_zlib_glz_wan_compression: str = ""
    usb_devices: str = ""
    usb_mouse: str = ""
    use_chroot: bool = False
    use_guest_agent: bool = False
    use_localtime: bool = False
    user_shutdown: bool = False
    vga: str = ""
    vhost_net: bool = False
    virtio_net_queues: int = 1
    vnc_bind_address: str = ""
    vnc_password_file: str = ""
    vnc_tls: bool = False
    vnc_x509_path: str = ""
    vnc_x509_verify: bool = False
    vnet_hdr: bool = True

    cpu_limit: int | UnsetType = UNSET
    cpu_weight: int | UnsetType = UNSET
    disk_iothread: bool | UnsetType = UNSET
    io_weight: int | UnsetType = UNSET
    max_memory: int | UnsetType = UNSET
    max_vcpus: int | UnsetType = UNSET
    memory_limit: int | UnsetType = UNSET
    migration_tls: bool | UnsetType = UNSET
    secure_boot: bool | UnsetType = UNSET
    tpm: bool | UnsetType = UNSET
    uefi: bool | UnsetType = UNSET


def find_program(kvm_path: str, exists: Callable[[Path], bool]) -> str | None:
    """The program to run: the one that is set; for the built-in one that is not there its other name; else None."""
    candidates = (kvm_path, OTHER_PROGRAM) if kvm_path == DEFAULT_PROGRAM else (kvm_path,)
    return next((program for program in candidates if exists(Path(program))), None)


def no_program(kvm_path: str) -> str:
    """What to say when there is no program."""
    names = f"neither {kvm_path} nor {OTHER_PROGRAM} is" if kvm_path == DEFAULT_PROGRAM else f"{kvm_path} is not"
    return f"{names} on this node; install qemu-system-x86 or set kvm_path"


def missing(hvparams: Params, exists: Callable[[Path], bool]) -> str | None:
    """What to say if there is no program for such parameters."""
    program = str(hvparams.get("kvm_path") or DEFAULT_PROGRAM)
    return no_program(program) if find_program(program, exists) is None else None


def unfit(hvparams: Params, shape: Shape) -> Iterator[str]:
    """See `HypervisorKind.unfit`."""
    yield from mask_misfits(hvparams, shape)
    yield from topology_misfits(hvparams, shape)
    limit = hvparams.get("memory_limit")
    if isinstance(limit, int) and 0 < limit < shape.memory:
        yield f"memory_limit: {limit} MiB are less than the {shape.memory} MiB of the guest"
    for name, has, what in (("max_memory", shape.memory, "MiB"), ("max_vcpus", shape.vcpus, "processors")):
        most = hvparams.get(name)
        if isinstance(most, int) and 0 < most < has:
            yield f"{name}: {most} is less than the {has} {what} that the guest begins with"


def topology_misfits(hvparams: Params, shape: Shape) -> Iterator[str]:
    """A line if the processors that a guest can have at most cannot be spread so; QEMU finds out what is not said."""
    numbers = {name: hvparams.get(name) or 0 for name in ("cpu_sockets", "cpu_cores", "cpu_threads")}
    most = hvparams.get("max_vcpus") or shape.vcpus
    told = {name: number for name, number in numbers.items() if isinstance(number, int) and number}
    spread = prod(told.values())
    if isinstance(most, int) and (most % spread or (len(told) == len(numbers) and spread != most)):
        words = ", ".join(f"{name}={number}" for name, number in told.items())
        yield f"{words}: the {most} processors that the guest can have do not spread so"


HYPERVISOR = HypervisorKind(
    params=KvmParams,
    choices=CHOICES,
    bounds=BOUNDS,
    move_bounds=MOVE_BOUNDS,
    forms=FORMS,
    cluster_only=frozenset({"migration_bandwidth", "migration_mode", "migration_port"}),
    keeps=frozenset({"tpm", "uefi"}),
    shared_files=("spice_password_file", "vnc_password_file"),
    reaching={
        **dict.fromkeys(("cdrom_image_path", "cdrom2_image_path", "floppy_image_path"), ""),
        **dict.fromkeys(("initrd_path", "kernel_path"), KERNELS),
        **dict.fromkeys(("mem_path", "migration_caps", "usb_devices"), ""),
        **dict.fromkeys(("spice_bind", "vnc_bind_address"), ADDRESSES),
        **dict.fromkeys(("cdrom_disk_type", "disk_type"), _SEEN_DISKS),
        **dict.fromkeys(("migration_tls", "spice_use_tls", "use_chroot"), "True"),
        **dict.fromkeys(("kvm_extra", "kvm_path", "security_domain", "security_model", "spice_password_file")),
        **dict.fromkeys(("spice_tls_ciphers", "vnc_password_file", "vnc_tls", "vnc_x509_path", "vnc_x509_verify")),
        "keymap": "[A-Za-z0-9-]*",
        "kvm_flag": "|enabled",
        "machine_version": "[A-Za-z0-9._-]*",  # behind a comma come options of the machine, which name files, too
        "vhost_net": "False",
    },
    consoles=frozenset(ConsoleKind),
    console_program="ganeti_tx.console",
    displays={ConsoleKind.VNC: "vnc_bind_address", ConsoleKind.SPICE: "spice_bind"},
    takes_port=True,
    pauses=True,
    hotplug=True,
    copies_disks=True,
    keys_per_migration=True,
    from_first_disk={
        "acpi": True,
        "boot_order": "disk",
        "cdrom_image_path": "",
        "floppy_image_path": "",
        "initrd_path": "",
        "kernel_path": "",
    },
    confines=True,
    formats=frozenset({RAW, QCOW2}),
    collectors=frozenset({"inst-status-kvm"}),
    by_default=True,
    missing=missing,
    unfit=unfit,
    unset={
        "cpu_limit": 0,
        "cpu_weight": 100,
        "disk_iothread": False,
        "io_weight": 100,
        "max_memory": 0,
        "max_vcpus": 0,
        "memory_limit": 0,
        "migration_tls": True,
        "secure_boot": False,
        "tpm": False,
        "uefi": False,
    },
    kept=("kvm-hypervisor/conf", ".runtime"),
    driver="kvm",
)
