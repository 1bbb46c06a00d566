"""What parameters do beside the command line, each shown as a text by what does it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from attrs import define, field, frozen

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm import migration
from ganeti_tx.node.hypervisor.kvm.acceleration import KVM_DEVICE, AccelerationProbe
from ganeti_tx.node.hypervisor.kvm.command.build import qemu_argv
from ganeti_tx.node.hypervisor.kvm.control_group import ControlGroup
from ganeti_tx.node.hypervisor.kvm.pinning import pin
from ganeti_tx.node.hypervisor.kvm.uid_pool import UidPool
from ganeti_tx.node.hypervisor.kvm.users import user_of
from ganeti_tx.node.hypervisor.scopes import SYSTEMD, Scopes
from ganeti_tx.test.fakes.entropy import SeededEntropy
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.node.hypervisor.kvm.parts import PATHS, qemu_plan

#: What a running QEMU answers to what is asked before a migration.
ANSWERS: Mapping[str, Any] = {
    "query-status": {"status": "running"},
    "query-migrate": {},
    "query-migrate-capabilities": [{"capability": name, "state": False} for name in ("xbzrle", "events")],
}
ADDRESS = "192.0.2.1"


@define
class ListeningQemu:
    """A QEMU that does all that it is told, and can show it. It is a `QmpClient` and an `IQemuProcesses`."""

    told: list[tuple[str, object]] = field(factory=list)

    async def execute(self, command: str, arguments: object = None) -> Any:
        """Do it."""
        self.told.append((command, arguments))
        return ANSWERS.get(command, {})

    def threads(self, pid: int) -> list[int]:
        """Two."""
        return [pid, pid + 1]

    def pin(self, thread: int, cpus: frozenset[int]) -> None:
        """Keep a thread to processors."""
        self.told.append((f"pin {thread}", sorted(cpus)))


async def sending(params: KvmParams) -> str:
    """A migration."""
    qemu: Any = ListeningQemu()
    await migration.send(qemu, params, ADDRESS, live=True)
    return str(qemu.told)


async def pinning(params: KvmParams) -> str:
    """The threads of a machine."""
    qemu: Any = ListeningQemu()
    await pin(qemu, qemu, 70, params.cpu_mask, 2)
    return str(qemu.told)


async def accelerating(params: KvmParams) -> str:
    """Where /dev/kvm is and works."""
    files = MemoryFiles()
    files.mkdir(KVM_DEVICE.parent)
    await files.write_atomic(KVM_DEVICE, b"")
    probe = AccelerationProbe(PATHS, files, FakeProcessRunner())
    probe._known[params.kvm_path] = await probe.choose("", "enabled")
    return str(await probe.choose(params.kvm_path, params.kvm_flag))


async def becoming(params: KvmParams) -> str:
    """The user of QEMU, where the cluster's pool has one id."""
    files = MemoryFiles()
    pool = PATHS.ssconf_file("uid_pool")
    files.mkdir(pool.parent)
    await files.write_atomic(pool, b"61000-61000")
    lock: Any = lambda path, mode: Unlocked()  # noqa: E731
    uids = UidPool(PATHS, files, SeededEntropy(), frozenset, lock)
    with user_of(uids, params) as run_as:
        return " ".join(qemu_argv(qemu_plan(run_as=run_as, **msgspec.to_builtins(params))))


class Unlocked:
    """A lock file that nobody else wants."""

    def release(self) -> None:
        """Let others have it."""


async def limiting(params: KvmParams) -> str:
    """The program that is started where systemd is."""
    group = ControlGroup(Scopes(lambda path: path == SYSTEMD))
    return " ".join(group.command(qemu_plan(**msgspec.to_builtins(params)), ["qemu"]))


@frozen
class Behaviour:
    """A value that is not the built-in one, what else must be set, and a piece of what shows that it counts."""

    value: Any
    show: Callable[[KvmParams], Awaitable[str]]
    piece: str
    needed: Mapping[str, Any] = {}


BEHAVIOURS: Mapping[str, Behaviour] = {
    "cpu_limit": Behaviour(150, limiting, "CPUQuota=150%"),
    "cpu_mask": Behaviour("0,2", pinning, "('pin 70', [0, 2]), ('pin 71', [0, 2])"),
    "cpu_weight": Behaviour(50, limiting, "CPUWeight=50"),
    "io_weight": Behaviour(200, limiting, "IOWeight=200"),
    "kvm_flag": Behaviour("disabled", accelerating, "tcg"),
    "memory_limit": Behaviour(256, limiting, "MemoryMax=256M"),
    "migration_bandwidth": Behaviour(64, sending, "'max-bandwidth': 67108864"),
    "migration_caps": Behaviour("xbzrle", sending, "{'capability': 'xbzrle', 'state': True}"),
    "migration_downtime": Behaviour(50, sending, "'downtime-limit': 50"),
    "migration_port": Behaviour(8200, sending, f"tcp:{ADDRESS}:8200"),
    "security_domain": Behaviour("nobody", becoming, "-runas nobody", {"security_model": "user"}),
    "security_model": Behaviour("pool", becoming, "-runas 61000:61000"),
}
