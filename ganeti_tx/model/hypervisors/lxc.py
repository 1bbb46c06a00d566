"""LXC: instances are containers."""

import re
from collections.abc import Iterator

from ganeti_tx.model.base import Params, Wire
from ganeti_tx.model.hypervisor import ConsoleKind, HypervisorKind, Shape
from ganeti_tx.model.value_form import TextForm, listed

#: Those of Linux (capabilities(7)), of which LXC, too, knows no others.
CAPABILITIES = frozenset(
    (
        *("audit_control", "audit_read", "audit_write", "block_suspend", "bpf", "checkpoint_restore", "chown"),
        *("dac_override", "dac_read_search", "fowner", "fsetid", "ipc_lock", "ipc_owner", "kill", "lease"),
        *("linux_immutable", "mac_admin", "mac_override", "mknod", "net_admin", "net_bind_service", "net_broadcast"),
        *("net_raw", "perfmon", "setfcap", "setgid", "setpcap", "setuid", "sys_admin", "sys_boot", "sys_chroot"),
        *("sys_module", "sys_nice", "sys_pacct", "sys_ptrace", "sys_rawio", "sys_resource", "sys_time"),
        *("sys_tty_config", "syslog", "wake_alarm"),
    )
)
_DEVICE = re.compile(r"[abc] (\d+|\*):(\d+|\*) [rwm]{1,3}")
_CGROUP = re.compile(r"[a-z_]{1,40}")
#: A line of LXC's configuration: a key of it, and a value.
_LINE = re.compile(r"lxc\.[a-z0-9._-]{1,100}[ \t]*=[^\n\r\0]{0,1000}")


class LxcParams(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """How LXC runs an instance; startup_timeout in seconds."""

    cpu_mask: str = ""
    devices: str = "c 1:3 rw,c 1:5 rw,c 1:7 rw,c 1:8 rw,c 1:9 rw,c 1:10 rw,c 5:0 rw,c 5:1 rw,c 5:2 rw,c 136:* rw"
    drop_capabilities: str = "mac_override,sys_boot,sys_module,sys_time,sys_admin"
    extra_cgroups: str = ""
    extra_config: str = ""
    num_ttys: int = 6
    startup_timeout: int = 30


def unfit(hvparams: Params, shape: Shape) -> Iterator[str]:
    """See `HypervisorKind.unfit`."""
    if not shape.disks:
        yield "a container needs a disk, which has its root file system"


HYPERVISOR = HypervisorKind(
    params=LxcParams,
    bounds={"num_ttys": (0, 64), "startup_timeout": (1, 3600)},
    forms={
        "devices": TextForm(_DEVICE.fullmatch, "a device such as 'c 1:3 rw'", items=listed),
        "drop_capabilities": TextForm(
            CAPABILITIES.__contains__, "a capability of Linux in small letters, without CAP_", items=listed
        ),
        "extra_cgroups": TextForm(_CGROUP.fullmatch, "the name of a cgroup controller", items=listed),
        "extra_config": TextForm(_LINE.fullmatch, "a line such as 'lxc.arch = x86_64'", items=listed),
    },
    reaching=dict.fromkeys(("devices", "drop_capabilities", "extra_cgroups", "extra_config")),
    consoles=frozenset({ConsoleKind.SSH, ConsoleKind.MESSAGE}),
    console_program="lxc-console",
    unfit=unfit,
    kept=("lxc", ""),
    driver="lxc",
)
