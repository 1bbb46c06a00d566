"""Machines that end without being told to: their guest powers off, QEMU fails, or somebody kills it."""

from collections.abc import Callable

from attrs import define

from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.remains import Remains


@define
class Ends:
    """Watches the processes of instances, once somebody wants to know."""

    machines: OwnMachines
    processes: IQemuProcesses
    remains: Remains
    _tell: Callable[[str], None] | None = None

    def begin(self, tell: Callable[[str], None]) -> None:
        """See `IEndsByItself.watch_ends`."""
        self._tell = tell
        for layout in self.machines.layouts():
            self.watch(layout)

    def watch(self, layout: InstanceLayout) -> None:
        """Tell of this machine's end, too."""
        tell = self._tell
        if tell is None:
            return
        pid = self.machines.pid(layout)
        if pid is None:
            tell(layout.name)
        else:
            self.processes.when_ended(pid, layout.pid).addCallback(lambda _: tell(layout.name))

    async def clear(self, instance_name: str) -> None:
        """See `IEndsByItself.clear_ended`."""
        layout = self.machines.layout(instance_name)
        if self.machines.files.exists(layout.runtime) and self.machines.pid(layout) is None:
            await self.remains.clear(layout, self.machines.readable_state(layout))
