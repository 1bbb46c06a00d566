"""The control group that a machine has for itself: a scope of systemd's, or one of ours, if it has limits, where systemd is not.

Only the second version of control groups counts. QEMU stands still until it is in there, so that no guest runs without its limits.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisor import Shape
from ganeti_tx.model.hypervisors.kvm import KvmParams, unfit
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.names import checked_name
from ganeti_tx.node.hypervisor.parameters import refuse_any
from ganeti_tx.node.hypervisor.scopes import Scopes

TOP = Path("/sys/fs/cgroup")
#: There only where the second version is mounted at the top.
CONTROLLERS = "cgroup.controllers"
#: Below this are those of all instances of this node.
GROUP = "ganeti-instances"
NEEDED = "+cpu +io +memory"
#: What a kernel has instead that shares out disks by its scheduler BFQ.
OTHER_FILES = {"io.weight": "io.bfq.weight"}
#: Of one period of so many microseconds a machine gets a part.
PERIOD = 100_000
MiB = 1 << 20

Exists = Callable[[Path], bool]


@frozen
class Limit:
    """One limit: the parameter, the file of a control group with its text, and the property of a scope."""

    parameter: str
    file: str
    text: str
    unit_property: str


def limits(params: KvmParams) -> Iterator[Limit]:
    """Those that are set."""
    if params.cpu_limit:
        quota = f"{params.cpu_limit * PERIOD // 100} {PERIOD}"
        yield Limit("cpu_limit", "cpu.max", quota, f"CPUQuota={params.cpu_limit}%")
    if params.cpu_weight:
        yield Limit("cpu_weight", "cpu.weight", str(params.cpu_weight), f"CPUWeight={params.cpu_weight}")
    if params.io_weight:
        yield Limit("io_weight", "io.weight", f"default {params.io_weight}", f"IOWeight={params.io_weight}")
    if params.memory_limit:
        yield Limit("memory_limit", "memory.max", str(params.memory_limit * MiB), f"MemoryMax={params.memory_limit}M")


def faults(params: KvmParams, exists: Exists) -> Iterator[str]:
    """Why this node cannot keep to them."""
    if (wanted := [each.parameter for each in limits(params)]) and not exists(TOP / CONTROLLERS):
        yield (
            f"{', '.join(wanted)}: this node has no control groups of version 2 at {TOP}, so it cannot limit instances;"
            " boot it with systemd.unified_cgroup_hierarchy=1, or leave these parameters out"
        )


@frozen
class ControlGroup:
    """Of this node's machines; files of control groups are written in place."""

    scopes: Scopes
    top: Path = TOP

    def check(self, plan: QemuPlan) -> None:
        """@raise HypervisorError: it could not even begin."""
        shape = Shape(memory=plan.memory, vcpus=plan.vcpus, disks=len(plan.disks))
        refuse_any(unfit(msgspec.structs.asdict(plan.params), shape))

    def command(self, plan: QemuPlan, argv: Sequence[str]) -> Sequence[str]:
        """How QEMU is started."""
        wanted = [each.unit_property for each in limits(plan.params)]
        if self.scopes.needed() or (wanted and self.scopes.possible()):
            return self.scopes.around(argv, plan.spec.name, plan.spec.uuid, limits=wanted)
        return argv

    def enter(self, plan: QemuPlan, pid: int) -> None:
        """Make the group and put QEMU, which stands still, into it, unless it needs none or has a scope.

        @raise HypervisorError: that cannot be done; `leave` removes what is there.
        """
        wanted = list(limits(plan.params))
        if not wanted or self.scopes.possible():
            return
        group = self._of(plan.spec.uuid)
        try:
            group.parent.mkdir(exist_ok=True)
            for directory in (self.top, group.parent):
                write(directory / "cgroup.subtree_control", NEEDED)
            group.mkdir(exist_ok=True)
            for each in wanted:
                other = group / OTHER_FILES.get(each.file, each.file)
                write(other if other.exists() else group / each.file, each.text)
            write(group / "cgroup.procs", str(pid))
        except OSError as error:
            where = error.filename or group
            raise HypervisorError(f"cannot limit the machine by {where}: {error.strerror}") from None

    def leave(self, uuid: str) -> None:
        """Remove the group of a machine that has ended. @raise HypervisorError: something is still in it."""
        try:
            self._of(uuid).rmdir()
        except FileNotFoundError:
            pass
        except OSError as error:
            raise HypervisorError(f"cannot remove the control group {self._of(uuid)}: {error.strerror}") from None

    def _of(self, uuid: str) -> Path:
        return self.top / GROUP / checked_name(uuid)


def write(path: Path, text: str) -> None:
    """@raise OSError: the kernel does not take it."""
    with path.open("w") as file:
        file.write(text)
