"""What runs here, as QEMU and the kernel tell."""

from attrs import frozen
from twisted.logger import Logger

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.interfaces import InstanceInfo, Owner, RunState
from ganeti_tx.node.hypervisor.kvm.balloon import balloon_size
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.migration import INCOMING
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.powering_off import HALTED, POWERED_OFF
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.state import InstanceRuntime
from ganeti_tx.node.hypervisor.listing import listed

log = Logger()

INFO_LIMIT = 5.0
#: What is wrong with one that a migration has brought here, and that nothing has been done for since.
UNREACHED = "its routed interfaces are not connected since it came here; 'gnt-instance migrate --cleanup' does that"


@frozen
class Looking:
    """Asks each machine shortly."""

    machines: OwnMachines
    processes: IQemuProcesses

    async def info(self, instance_name: str) -> InstanceInfo | None:
        """See `IHypervisor`."""
        layout = self.machines.layout(instance_name)
        pid = self.machines.pid(layout)
        if pid is None:
            return None
        try:
            state = self.machines.state(layout)
        except HypervisorError as error:
            return await self._unremembered(layout, pid, str(error).removeprefix(f"instance {instance_name}: "))
        if state is None:
            return None
        status, memory = await self._ask(layout, state.memory)
        run_state = run_state_of(status)
        why = status if run_state is RunState.HALTED else UNREACHED if is_cut_off(status, state) else ""
        used = self.processes.cpu_seconds(pid)
        return InstanceInfo(
            *(instance_name, pid, memory, state.vcpus, run_state, used, why),
            uuid=state.uuid,
            ended_by=ended_by(layout),
        )

    async def _unremembered(self, layout: InstanceLayout, pid: int, fault: str) -> InstanceInfo:
        """One that runs, of which no more is known than its QEMU tells."""
        status, memory = await self._ask(layout, 0)
        used = self.processes.cpu_seconds(pid)
        return InstanceInfo(layout.name, pid, memory, 0, run_state_of(status), used, fault, ended_by=ended_by(layout))

    def owner(self, instance_name: str, other_than: str = "") -> Owner | None:
        """See `IHypervisor`."""
        layout = self.machines.layout(instance_name)
        state = self.machines.readable_state(layout) if self.machines.pid(layout) is not None else None
        return None if state is None or state.uuid in ("", other_than) else Owner(state.uuid, ended_by(layout))

    def tap_of(self, instance_name: str, nic_uuid: str) -> str | None:
        """See `ITellsInterfaces`."""
        layout = self.machines.layout(instance_name)
        state = self.machines.state(layout)
        if self.machines.pid(layout) is None or state is None:
            return None
        return next((nic.tap for nic in state.nics if nic.uuid == nic_uuid and nic.tap), None)

    async def _ask(self, layout: InstanceLayout, started_with: int) -> tuple[str, int]:
        """QEMU's run state, and the memory in MiB that the guest has now; a QEMU that hangs still runs."""
        try:
            async with self.machines.monitor(layout) as client:
                answer = await client.execute("query-status", timeout=INFO_LIMIT)
                memory = await balloon_size(client)
        except HypervisorError as error:
            log.warn("instance {name}: {error}", name=layout.name, error=error)
            return "unknown", started_with
        return str(answer["status"]), memory or started_with

    async def all(self) -> list[InstanceInfo]:
        """See `IHypervisor.list_instances`."""
        return await listed(self.machines.names(), self.info)


def ended_by(layout: InstanceLayout) -> str:
    """What ends one that belongs to nobody: its number may be another's when somebody reads that."""
    return f"kill $(cat {layout.pid})"


def is_cut_off(status: str, state: InstanceRuntime) -> bool:
    """Whether its guest is here, and is not reached."""
    return state.unreached and status != INCOMING


def run_state_of(status: str) -> RunState:
    """What one of QEMU's run states is to the cluster."""
    if status in HALTED:
        return RunState.HALTED
    return RunState.SHUTDOWN_BY_USER if status in POWERED_OFF else RunState.RUNNING
