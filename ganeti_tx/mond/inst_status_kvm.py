"""The collector "inst-status-kvm": whether this node's KVM instances do what was asked of them.

Ganeti has no such collector; its reports have the shape of "inst-status-xen".
"""

import os
from pathlib import Path
from typing import Any

from attrs import define
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime
from zope.interface import implementer

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors import hypervisors_of
from ganeti_tx.mond.inst_status import Reasons, Seen, instances_report, uptime_text
from ganeti_tx.mond.interfaces import Category, ICollector, IConfigFacts, Kind
from ganeti_tx.node.hypervisor.kvm import state as states
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines

UPTIME = Path("/proc/uptime")
MAX_FILE = 4096
TICKS = os.sysconf("SC_CLK_TCK")
#: Where a process's start is after its name, in ticks since the boot (proc(5), field 22).
START_FIELD = 19
#: With it an instance stays when its guest has powered itself off, and only its QEMU knows.
STAYS = "-no-shutdown"
#: Seconds that a QEMU gets to tell; the node daemon may be talking to it.
ASK_LIMIT = 2.0


@define
class KvmInstances:
    """The instances whose QEMU is there. QEMU itself is asked only where its process does not tell all: it serves one
    client at a time, and the node daemon has work to do with it.
    """

    machines: OwnMachines
    clock: IReactorTime

    async def seen(self) -> dict[str, Seen]:
        """By name. All are looked at together: when their disks stand still, none of the QEMUs may tell."""
        names = states.saved_names(self.machines.files, self.machines.paths)
        looks = {name: Deferred.fromCoroutine(self._look(name)) for name in names}
        try:
            return {name: one for name, look in looks.items() if (one := await look) is not None}
        finally:
            for look in looks.values():
                look.addErrback(lambda _: None)
                look.cancel()

    async def _look(self, name: str) -> Seen | None:
        try:
            layout = self.machines.layout(name)
        except HypervisorError:
            return None  # no instance of ours is called so
        pid = self.machines.pid(layout)
        if pid is None:
            return None
        state = self.machines.readable_state(layout)
        if state is not None and STAYS in state.argv and await self._is_off(layout.qmp):
            return Seen("shutdown")
        return Seen("running", self._uptime(pid))

    def _uptime(self, pid: int) -> str | None:
        try:
            after_name = self.machines.files.read(Path(f"/proc/{pid:d}/stat"), MAX_FILE).rpartition(b")")[2]
            started = int(after_name.split()[START_FIELD]) / TICKS
            return uptime_text(max(0.0, float(self.machines.files.read(UPTIME, MAX_FILE).split()[0]) - started))
        except (OSError, ValueError, IndexError):
            return None  # it is ending just now

    async def _is_off(self, socket: Path) -> bool:
        """Whether the guest has powered itself off; a QEMU that does not tell in time counts as running."""
        asking: Deferred[bool] = Deferred.fromCoroutine(self._ask(socket))
        try:
            return await asking.addTimeout(ASK_LIMIT, self.clock)
        except (HypervisorError, TimeoutError):
            return False

    async def _ask(self, socket: Path) -> bool:
        async with self.machines.monitors.open(socket) as client:
            return bool((await client.execute("query-status"))["status"] == "shutdown")


@implementer(ICollector)
@define
class InstanceStatusKvm:
    """States are "running", "shutdown" (the guest powered itself off, its QEMU is still there) and "down"."""

    instances: KvmInstances
    config: IConfigFacts
    reasons: Reasons
    name: str = "inst-status-kvm"
    category: Category | None = Category.INSTANCE
    kind: Kind = Kind.STATUS
    format_version: int = 1

    async def collect(self) -> Any:
        """See `ICollector`."""
        seen = await self.instances.seen()
        return instances_report(self.config.facts(), hypervisors_of(self.name), seen, self.reasons)
