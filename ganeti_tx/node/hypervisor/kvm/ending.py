"""How instances end: asked by their agent or the power button, then cut off, and cleared away."""

from attrs import define
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.guest_agent import ShutDownByAgent
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient, QmpLost
from ganeti_tx.node.hypervisor.kvm.remains import Remains
from ganeti_tx.node.hypervisor.kvm.state import InstanceRuntime
from ganeti_tx.runtime.files import IFiles

log = Logger()

#: Seconds until QEMU has quit when told to, and until a killed one is gone.
QUIT_LIMIT = 5.0
KILL_LIMIT = 30.0
#: Seconds after which the power button is pressed (again).
BUTTON_INTERVAL = 5.0
PAUSE = 0.5
MAX_PID_FILE = 100
#: Run states of QEMU in which the guest has powered itself off.
POWERED_OFF = frozenset({"shutdown"})
#: Run states in which QEMU has stopped the guest: KVM failed, a disk could not be written, or the guest's kernel told its end.
HALTED = frozenset({"internal-error", "io-error", "guest-panicked"})
#: Run states in which no guest is there to react to the power button: powered off already, never let go, or stopped;
#: not there yet, or gone elsewhere.
NEVER_REACTS = POWERED_OFF | HALTED | {"prelaunch", "inmigrate", "postmigrate"}


@define
class Ending:
    """Ends instances, and tells which have not ended."""

    files: IFiles
    clock: IReactorTime
    monitors: Monitors
    processes: IQemuProcesses
    remains: Remains
    ask_agent: ShutDownByAgent

    def pid_of_living(self, layout: InstanceLayout) -> int | None:
        """The instance's process, when there is one."""
        try:
            text = self.files.read(layout.pid, MAX_PID_FILE).decode("ascii").strip()
        except (FileNotFoundError, UnicodeDecodeError):
            return None
        if not text.isdigit() or not self.processes.is_alive(int(text), layout.pid):
            return None
        return int(text)

    async def stop(self, layout: InstanceLayout, state: InstanceRuntime | None, timeout: float, force: bool) -> None:
        """See `IHypervisor.stop`."""
        pid = self.pid_of_living(layout)
        if pid is not None and not force:
            await self._ask_to_power_off(layout, state, pid, timeout)
        await self.end(layout, state)

    async def _ask_to_power_off(
        self, layout: InstanceLayout, state: InstanceRuntime | None, pid: int, timeout: float
    ) -> None:
        """Until the guest has shut down, or the time is over; one that boots does not hear the button yet.

        One without agent and ACPI cannot be asked.
        """
        deadline = self.clock.seconds() + timeout
        hears_button = state is None or state.params is None or state.params.acpi
        agent = self.files.exists(layout.guest_agent)
        while (agent or hears_button) and (left := deadline - self.clock.seconds()) > 0:
            try:
                async with self.monitors.open(layout.qmp) as client:
                    if (await client.execute("query-status"))["status"] not in NEVER_REACTS:
                        asking, agent = agent, agent and not hears_button
                        await self._ask_once(client, layout, asking, hears_button, left)
                return
            except QmpLost:
                await self._wait_for_end(layout, pid, QUIT_LIMIT)
                return
            except HypervisorError as error:
                log.debug("instance {name}: {error}", name=layout.name, error=error)
                await deferLater(self.clock, min(left, PAUSE))
        log.info("instance {name} did not power off within {limit} s", name=layout.name, limit=timeout)

    async def _ask_once(
        self, client: QmpClient, layout: InstanceLayout, agent: bool, hears_button: bool, left: float
    ) -> None:
        """Ask the agent, or press the button, and wait. @raise HypervisorError: the guest has not powered off meanwhile."""
        limit = min(left, BUTTON_INTERVAL) if hears_button else left
        powered_off = client.next_event("SHUTDOWN", limit)
        try:
            if not (agent and await self.ask_agent(layout.guest_agent)):
                if not hears_button:
                    raise HypervisorError("nobody in the guest answers")
                await client.execute("system_powerdown")
            await powered_off
        finally:
            powered_off.addErrback(lambda _: None)  # when the guest cannot be asked, nobody waits for this
            powered_off.cancel()

    async def end(self, layout: InstanceLayout, state: InstanceRuntime | None) -> None:
        """Cut the instance off if it still runs, and clear away what it leaves."""
        pid = self.pid_of_living(layout)
        if pid is not None:
            await self._quit(layout, pid)
        pid = self.pid_of_living(layout)
        if pid is not None:
            self.processes.kill(pid, layout.pid)
            if not await self._wait_for_end(layout, pid, KILL_LIMIT):
                raise HypervisorError(f"instance {layout.name}: its QEMU (process {pid}) cannot be killed; see dmesg")
        await self.remains.clear(layout, state)

    async def _quit(self, layout: InstanceLayout, pid: int) -> None:
        try:
            async with self.monitors.open(layout.qmp) as client:
                await client.execute("quit", timeout=QUIT_LIMIT)
        except QmpLost:
            pass  # it is ending already, and may still be writing to its disks
        except HypervisorError:
            return  # it hangs: the kernel will be asked
        await self._wait_for_end(layout, pid, QUIT_LIMIT)

    async def _wait_for_end(self, layout: InstanceLayout, pid: int, limit: float) -> bool:
        ended: Deferred[None] = self.processes.when_ended(pid, layout.pid)
        ended.addTimeout(limit, self.clock)
        try:
            await ended
        except TimeoutError:
            return False
        return True
