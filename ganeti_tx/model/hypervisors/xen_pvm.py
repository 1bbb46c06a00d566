"""Xen, with instances whose kernel knows that it runs under Xen."""

from ganeti_tx.model.base import Wire
from ganeti_tx.model.hypervisor import KERNELS, MIGRATION_MODES, ConsoleKind, HypervisorKind
from ganeti_tx.model.xen_values import BOUNDS, unfit


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


HYPERVISOR = HypervisorKind(
    params=XenPvmParams,
    choices={
        "migration_mode": MIGRATION_MODES,
        "reboot_behavior": ("reboot", "exit"),
        "xen_cmd": ("xm", "xl"),
    },
    bounds=BOUNDS,
    cluster_only=frozenset({"migration_mode", "migration_port", "xen_cmd"}),
    reaching={
        **dict.fromkeys(("initrd_path", "kernel_path"), KERNELS),
        **dict.fromkeys(("bootloader_args", "bootloader_path", "vif_script")),
        "use_bootloader": "False",
    },
    consoles=frozenset({ConsoleKind.SSH}),
    console_program="ganeti_tx.xen_console",
    pauses=True,
    keys_per_migration=True,
    confines=True,
    collectors=frozenset({"inst-status-xen", "xen-cpu-avg-load"}),
    kept=("xen-hypervisor/xen-pvm", ""),
    unfit=unfit,
    driver="xen_pvm",
)
