"""The control group that a machine with limits has for itself: a scope of systemd's, or one of ours where systemd is not.

Only the second version of control groups counts. QEMU stands still until it is in there, so that no guest runs without its limits.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.names import checked_name

TOP = Path("/sys/fs/cgroup")
#: There only where the second version is mounted at the top.
CONTROLLERS = "cgroup.controllers"
SYSTEMD = Path("/run/systemd/system")
#: Below this are those of all instances of this node.
GROUP, SLICE = "ganeti-instances", "ganeti-instances.slice"
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


def scope_argv(plan: QemuPlan) -> list[str]:
    """What starts QEMU in a scope, which ends with it."""
    properties = [f"--property={each.unit_property}" for each in limits(plan.params)]
    unit = f"--unit=ganeti-instance-{checked_name(plan.spec.uuid)}.scope"
    return ["systemd-run", "--scope", "--quiet", "--collect", f"--slice={SLICE}", unit, *properties, "--"]


@frozen
class ControlGroup:
    """Of this node's machines; files of control groups are written in place."""

    exists: Exists
    top: Path = TOP
    by_systemd: Path = SYSTEMD

    def check(self, plan: QemuPlan) -> None:
        """@raise HypervisorError: it could not even begin."""
        if (limit := plan.params.memory_limit) and limit < plan.memory:
            raise HypervisorError(f"memory_limit: {limit} MiB are less than the {plan.memory} MiB of the guest")

    def command(self, plan: QemuPlan, argv: Sequence[str]) -> Sequence[str]:
        """How QEMU is started."""
        if not list(limits(plan.params)) or not self.exists(self.by_systemd):
            return argv
        return [*scope_argv(plan), *argv]

    def enter(self, plan: QemuPlan, pid: int) -> None:
        """Make the group and put QEMU, which stands still, into it, unless it has a scope.

        @raise HypervisorError: that cannot be done; `leave` removes what is there.
        """
        wanted = list(limits(plan.params))
        if not wanted or self.exists(self.by_systemd):
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
