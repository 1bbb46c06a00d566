"""KVM: instances are QEMU processes of their node (Ganeti 3.0 configuration table)."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import UNSET, UnsetType

from ganeti_tx.model.base import Params, Wire
from ganeti_tx.model.hypervisor import MIGRATION_MODES, ConsoleKind, HypervisorKind

#: The built-in value of `kvm_path`, and the same program by the name every QEMU package gives it.
DEFAULT_PROGRAM = "/usr/bin/kvm"
OTHER_PROGRAM = "/usr/bin/qemu-system-x86_64"

DISK_TYPES = (
    *("paravirtual", "ide", "scsi", "scsi-hd", "scsi-block", "scsi-generic", "scsi-cd", "sd", "mtd", "pflash"),
)

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


HYPERVISOR = HypervisorKind(
    params=KvmParams,
    choices=CHOICES,
    cluster_only=frozenset({"migration_bandwidth", "migration_mode", "migration_port"}),
    keeps=frozenset({"tpm", "uefi"}),
    shared_files=("spice_password_file", "vnc_password_file"),
    consoles=frozenset(ConsoleKind),
    takes_port=True,
    pauses=True,
    hotplug=True,
    from_first_disk={
        "acpi": True,
        "boot_order": "disk",
        "cdrom_image_path": "",
        "floppy_image_path": "",
        "initrd_path": "",
        "kernel_path": "",
    },
    confines=True,
    collectors=frozenset({"inst-status-kvm"}),
    by_default=True,
    missing=missing,
    kept=("kvm-hypervisor/conf", ".runtime"),
    driver="kvm",
)
