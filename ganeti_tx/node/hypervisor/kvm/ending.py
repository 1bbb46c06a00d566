"""How instances end: asked by their agent or the power button, then cut off, and cleared away."""

from attrs import define
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.human_monitor import HumanMonitor
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.powering_off import PoweringOff
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import QmpLost, QmpSilent
from ganeti_tx.node.hypervisor.kvm.remains import Remains
from ganeti_tx.node.hypervisor.kvm.state import InstanceRuntime

#: Seconds until QEMU has quit when told to, and until a killed one is gone.
QUIT_LIMIT = 5.0
KILL_LIMIT = 30.0


@define
class Ending:
    """Ends instances."""

    clock: IReactorTime
    machines: OwnMachines
    processes: IQemuProcesses
    remains: Remains
    powering_off: PoweringOff
    human: HumanMonitor

    async def stop(
        self, layout: InstanceLayout, state: InstanceRuntime | None, timeout: float, force: bool
    ) -> str | None:
        """See `IHypervisor.stop`."""
        said = None
        if self.machines.pid(layout) is not None and not force:
            said = await self.powering_off.ask(layout, state, timeout)
        await self.end(layout, state)
        return said

    async def end(self, layout: InstanceLayout, state: InstanceRuntime | None) -> None:
        """Cut the instance off if it still runs, and clear away what it leaves."""
        pid = self.machines.pid(layout)
        if pid is not None:
            await self._quit(layout, pid)
        pid = self.machines.pid(layout)
        if pid is not None:
            self.processes.kill(pid, layout.pid)
            if not await self._wait_for_end(layout, pid, KILL_LIMIT):
                raise HypervisorError(f"instance {layout.name}: its QEMU (process {pid}) cannot be killed; see dmesg")
        await self.remains.clear(layout, state)

    async def _quit(self, layout: InstanceLayout, pid: int) -> None:
        try:
            async with self.machines.monitor(layout) as client:
                await client.execute("quit", timeout=QUIT_LIMIT)
        except QmpLost:
            pass  # it is ending already, and may still be writing to its disks
        except QmpSilent:
            try:
                await self.human.say(layout.monitor, "quit")
            except QmpLost:
                pass
            except HypervisorError:
                return  # it hangs: the kernel will be asked
        except HypervisorError:
            return
        await self._wait_for_end(layout, pid, QUIT_LIMIT)

    async def ends_by_itself(self, layout: InstanceLayout) -> bool:
        """Whether it is not there, or will not be in a moment: its QEMU answers no more."""
        pid = self.machines.pid(layout)
        return pid is None or await self._wait_for_end(layout, pid, QUIT_LIMIT)

    async def _wait_for_end(self, layout: InstanceLayout, pid: int, limit: float) -> bool:
        ended: Deferred[None] = self.processes.when_ended(pid, layout.pid)
        ended.addTimeout(limit, self.clock)
        try:
            await ended
        except TimeoutError:
            return False
        return True
