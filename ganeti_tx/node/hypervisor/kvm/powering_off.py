"""How a guest is asked to power itself off: by its agent, or by the power button, over QMP or the monitor for people."""

from attrs import define, field, frozen
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.agent.shutting_down import ShutDownByAgent
from ganeti_tx.node.hypervisor.kvm.human_monitor import HumanMonitor
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient, QmpLost, QmpSilent
from ganeti_tx.node.hypervisor.kvm.state import InstanceRuntime
from ganeti_tx.runtime.files import IFiles

log = Logger()

#: Seconds after which the power button is pressed (again).
BUTTON_INTERVAL = 5.0
PAUSE = 0.5
#: Run states of QEMU in which the guest has powered itself off.
POWERED_OFF = frozenset({"shutdown"})
#: Run states in which QEMU has stopped the guest: KVM failed, a disk could not be written, or the guest's kernel told its end.
HALTED = frozenset({"internal-error", "io-error", "guest-panicked"})
#: Run states in which no guest is there to react to the power button: powered off already, never let go, or stopped;
#: not there yet, or gone elsewhere.
NEVER_REACTS = POWERED_OFF | HALTED | {"prelaunch", "inmigrate", "postmigrate"}


@frozen
class PoweringOff:
    """Asks guests."""

    files: IFiles
    clock: IReactorTime
    machines: OwnMachines
    ask_agent: ShutDownByAgent
    human: HumanMonitor

    async def ask(self, layout: InstanceLayout, state: InstanceRuntime | None, timeout: float) -> str | None:
        """Until the guest has shut down, or the time is over; what is answered is why it never heard of it.

        One without agent and ACPI cannot be asked.
        """
        hears_button = state is None or state.params is None or state.params.acpi
        guest = _Guest(self, layout, hears_button, self.files.exists(layout.guest_agent))
        deadline = self.clock.seconds() + timeout
        while (guest.agent or hears_button) and (left := deadline - self.clock.seconds()) > 0:
            try:
                await guest.ask_once(left)
                return None
            except QmpLost:
                return None
            except HypervisorError as error:
                guest.fault = str(error)
                log.debug("instance {name}: {error}", name=layout.name, error=error)
                await deferLater(self.clock, min(left, PAUSE))
        log.info("instance {name} did not power off within {limit} s", name=layout.name, limit=timeout)
        if guest.asked or not guest.fault:
            return None
        return f"instance {layout.name} was cut off, its guest could not be asked to power off: {guest.fault}"


@define
class _Guest:
    """One that is asked again and again; an agent only the first time, where there is a button."""

    parts: PoweringOff
    layout: InstanceLayout
    hears_button: bool
    agent: bool
    asked: bool = field(default=False, init=False)
    fault: str = field(default="", init=False)

    async def ask_once(self, left: float) -> None:
        """@raise QmpLost: its QEMU has ended. @raise HypervisorError: it has not powered off meanwhile."""
        limit = min(left, BUTTON_INTERVAL) if self.hears_button else left
        try:
            async with self.parts.machines.monitor(self.layout) as client:
                if (await client.execute("query-status"))["status"] not in NEVER_REACTS:
                    await self._over_qmp(client, limit)
        except QmpSilent as error:
            log.info("instance {name}: {error}; its monitor is tried", name=self.layout.name, error=error)
            await self._over_monitor(limit)

    async def _over_qmp(self, client: QmpClient, limit: float) -> None:
        powered_off = client.next_event("SHUTDOWN", limit)
        try:
            if not await self._asks_agent():
                await client.execute("system_powerdown")
                self.asked = True
            await powered_off
        finally:
            powered_off.addErrback(lambda _: None)  # when the guest cannot be asked, nobody waits for this
            powered_off.cancel()

    async def _over_monitor(self, limit: float) -> None:
        """It tells of no events, so it is asked for the state."""
        human, clock, socket = self.parts.human, self.parts.clock, self.layout.monitor
        if await human.status(socket) in NEVER_REACTS:
            return
        if not await self._asks_agent():
            await human.say(socket, "system_powerdown")
            self.asked = True
        end = clock.seconds() + limit
        while clock.seconds() < end:
            await deferLater(clock, PAUSE)
            if await human.status(socket) in NEVER_REACTS:
                return
        raise HypervisorError("the guest has not powered off")

    async def _asks_agent(self) -> bool:
        """Whether the agent does it. @raise HypervisorError: there is neither an agent nor a button."""
        asking, self.agent = self.agent, self.agent and not self.hears_button
        if asking and await self.parts.ask_agent(self.layout.guest_agent):
            self.asked = True
            return True
        if not self.hears_button:
            raise HypervisorError("nobody in the guest answers")
        return False
