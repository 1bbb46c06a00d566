"""Parameters of instances under Xen, with their built-in values (Ganeti 3.0 configuration table)."""

from ganeti_tx.model.base import Wire


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


class XenPvmParams(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """How Xen runs a paravirtualised instance."""

    blockdev_prefix: str = "sd"
    bootloader_args: str = ""
    bootloader_path: str = ""
    cpu_cap: int = 0
    cpu_mask: str = "all"
    cpu_weight: int = 256
    cpuid: str = ""
    initrd_path: str = ""
    kernel_args: str = "ro"
    kernel_path: str = "/boot/vmlinuz-3-xenU"
    migration_mode: str = "live"
    migration_port: int = 8002
    reboot_behavior: str = "reboot"
    root_path: str | None = "/dev/xvda1"
    soundhw: str = ""
    use_bootloader: bool = False
    vif_script: str = ""
    xen_cmd: str = "xm"
