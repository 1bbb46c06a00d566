"""Machines that end without being told to: their guest powers off, QEMU fails, or somebody kills it."""

from collections.abc import Callable, Iterable

from attrs import define

from ganeti_tx.node.hypervisor.kvm.ending import Ending
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses


@define
class Ends:
    """Watches the processes of instances, once somebody wants to know."""

    ending: Ending
    processes: IQemuProcesses
    _tell: Callable[[str], None] | None = None

    def begin(self, tell: Callable[[str], None], machines: Iterable[InstanceLayout]) -> None:
        """See `IEndsByItself.watch_ends`; of these machines something is kept."""
        self._tell = tell
        for layout in machines:
            self.watch(layout)

    def watch(self, layout: InstanceLayout) -> None:
        """Tell of this machine's end, too."""
        tell = self._tell
        if tell is None:
            return
        pid = self.ending.pid_of_living(layout)
        if pid is None:
            tell(layout.name)
        else:
            self.processes.when_ended(pid, layout.pid).addCallback(lambda _: tell(layout.name))
