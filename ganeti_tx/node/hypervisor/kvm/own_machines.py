"""Which machines of QEMU there are on this node: all is found again from its run directory, whoever has started them."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from attrs import define
from twisted.logger import Logger

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm import state as states
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout, instance_layout
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.own_directories import check_own
from ganeti_tx.node.hypervisor.kvm.pid_file import pid_in
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.node.hypervisor.kvm.running import RunningInstance
from ganeti_tx.node.hypervisor.kvm.state import InstanceRuntime
from ganeti_tx.node.hypervisor.live import not_running
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

PROCESSES = Path("/proc")

log = Logger()


@define
class OwnMachines:
    """Those that this driver has made, by the names of their instances."""

    paths: Paths
    files: IFiles
    processes: IQemuProcesses
    monitors: Monitors

    def layout(self, name: str) -> InstanceLayout:
        """Where the files of one are. @raise HypervisorError: others could have put them there, or it is no name."""
        check_own(self.files, self.paths)
        return instance_layout(self.paths, name)

    def names(self) -> list[str]:
        """All of which something is kept, whether they run or not. @raise HypervisorError: others could have put it there."""
        check_own(self.files, self.paths)
        return states.saved_names(self.files, self.paths)

    def layouts(self) -> list[InstanceLayout]:
        """Of all of those; of none when others could have put them there, which keeps no daemon from its other work."""
        try:
            return [self.layout(name) for name in self.names()]
        except HypervisorError as error:
            log.error("{error}", error=error)
            return []

    def state(self, layout: InstanceLayout) -> InstanceRuntime | None:
        """What is remembered of one. @raise HypervisorError: it cannot be read."""
        return states.load(self.files, layout)

    def readable_state(self, layout: InstanceLayout) -> InstanceRuntime | None:
        """The same; None also when it cannot be read, for what is done all the same."""
        try:
            return self.state(layout)
        except HypervisorError:
            return None

    def pid(self, layout: InstanceLayout) -> int | None:
        """The process of one that lives, also of one whose pid file somebody has removed or written over."""
        return next((pid for pid in self._told(layout) if self.processes.is_alive(pid, layout.pid)), None)

    def _told(self, layout: InstanceLayout) -> Iterator[int]:
        """What its process may be.

        QEMU's sockets would tell, too, but each connection takes one of the few places in which others wait for it.
        """
        if (pid := pid_in(self.files, layout.pid)) is not None:
            yield pid
        try:
            state = self.state(layout)
        except HypervisorError:  # that is rare, and a second QEMU on the same disks would spoil them
            yield from self._processes()
        else:
            if state is not None and state.pid is not None:
                yield state.pid

    def _processes(self) -> Iterator[int]:
        """All of the node."""
        if self.files.exists(PROCESSES):
            yield from (int(name) for name in self.files.listdir(PROCESSES) if name.isdigit())

    def monitor(self, layout: InstanceLayout) -> AbstractAsyncContextManager[QmpClient]:
        """A connection to its QEMU. @raise HypervisorError: it does not answer."""
        return self.monitors.open(layout.qmp)

    @asynccontextmanager
    async def running(self, name: str) -> AsyncIterator[RunningInstance]:
        """One that runs, as long as something of it is changed or asked. @raise HypervisorError: it does not run."""
        layout = self.layout(name)
        state = self.state(layout)
        if self.pid(layout) is None:
            raise not_running(name)
        if state is None:
            raise HypervisorError(f"instance {name}: {layout.runtime} is missing; stop it and start it again")
        with naming(name):
            async with self.monitor(layout) as client:
                yield RunningInstance(self.files, layout, state, client)
