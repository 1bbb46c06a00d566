"""Xen, with fully virtualised instances."""

from ganeti_tx.model.base import Wire
from ganeti_tx.model.hypervisor import ADDRESSES, MIGRATION_MODES, ConsoleKind, HypervisorKind
from ganeti_tx.model.ip_family import is_address
from ganeti_tx.model.value_form import TextForm
from ganeti_tx.model.xen_values import BOUNDS, unfit


class XenHvmParams(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """How Xen runs a fully virtualised instance."""

    acpi: bool = True
    blockdev_prefix: str = "hd"
    boot_order: str = "cd"
    cdrom_image_path: str = ""
    cpu_cap: int = 0
    cpu_mask: str = "all"
    cpu_weight: int = 256
    cpuid: str = ""
    device_model: str = "/usr/lib/xen/bin/qemu-dm"
    disk_type: str = "paravirtual"
    kernel_path: str = "/usr/lib/xen/boot/hvmloader"
    migration_mode: str = "non-live"
    migration_port: int = 8002
    nic_type: str = "rtl8139"
    pae: bool = True
    pci_pass: str = ""
    reboot_behavior: str = "reboot"
    soundhw: str = ""
    use_localtime: bool = False
    vif_script: str = ""
    vif_type: str = "ioemu"
    viridian: bool = False
    vnc_bind_address: str = "0.0.0.0"
    vnc_password_file: str = "/etc/ganeti/vnc-cluster-password"
    xen_cmd: str = "xm"


HYPERVISOR = HypervisorKind(
    params=XenHvmParams,
    choices={
        "migration_mode": MIGRATION_MODES,
        "reboot_behavior": ("reboot", "exit"),
        "xen_cmd": ("xm", "xl"),
        "disk_type": ("ioemu", "paravirtual"),
        "nic_type": ("rtl8139", "ne2k_isa", "ne2k_pci", "paravirtual", "e1000"),
        "vif_type": ("ioemu", "vif", ""),
    },
    bounds=BOUNDS,
    forms={"vnc_bind_address": TextForm(is_address, "an IP address")},
    cluster_only=frozenset({"migration_mode", "migration_port", "xen_cmd"}),
    shared_files=("vnc_password_file",),
    reaching={
        **dict.fromkeys(("cdrom_image_path", "pci_pass"), ""),
        **dict.fromkeys(("device_model", "kernel_path", "vif_script", "vnc_password_file")),
        "vnc_bind_address": ADDRESSES,
    },
    consoles=frozenset({ConsoleKind.SSH}),
    console_program="ganeti_tx.xen_console",
    takes_port=True,
    pauses=True,
    keys_per_migration=True,
    from_first_disk={"acpi": True, "boot_order": "c", "cdrom_image_path": ""},
    confines=True,
    collectors=frozenset({"inst-status-xen", "xen-cpu-avg-load"}),
    kept=("xen-hypervisor/xen-hvm", ""),
    unfit=unfit,
    driver="xen_hvm",
)
