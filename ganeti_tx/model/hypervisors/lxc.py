"""LXC: instances are containers."""

from ganeti_tx.model.base import Wire
from ganeti_tx.model.hypervisor import ConsoleKind, HypervisorKind


class LxcParams(Wire, frozen=True, kw_only=True, omit_defaults=False):
    """How LXC runs an instance; startup_timeout in seconds."""

    cpu_mask: str = ""
    devices: str = "c 1:3 rw,c 1:5 rw,c 1:7 rw,c 1:8 rw,c 1:9 rw,c 1:10 rw,c 5:0 rw,c 5:1 rw,c 5:2 rw,c 136:* rw"
    drop_capabilities: str = "mac_override,sys_boot,sys_module,sys_time,sys_admin"
    extra_cgroups: str = ""
    extra_config: str = ""
    num_ttys: int = 6
    startup_timeout: int = 30


HYPERVISOR = HypervisorKind(
    params=LxcParams,
    consoles=frozenset({ConsoleKind.SSH, ConsoleKind.MESSAGE}),
    kept=("lxc", ""),
    driver="lxc",
)
