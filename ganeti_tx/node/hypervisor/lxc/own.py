"""Which containers are ours: all is found again from the node's run directory and from LXC, whoever has started them."""

from typing import NamedTuple

from attrs import frozen

from ganeti_tx.node.hypervisor.instance_record import load
from ganeti_tx.node.hypervisor.lxc.containers import Containers, Seen
from ganeti_tx.node.hypervisor.lxc.layout import ContainerLayout, container_layout
from ganeti_tx.node.hypervisor.lxc.record import ContainerRecord
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.node.hypervisor.own_directories import names_in
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths


class RunningContainer(NamedTuple):
    """One that runs: what is remembered of it, and what LXC tells."""

    record: ContainerRecord
    seen: Seen


@frozen
class OwnContainers:
    """Those of this node, by the names of their instances."""

    paths: Paths
    files: IFiles
    containers: Containers

    def layout(self, name: str) -> ContainerLayout:
        """@raise HypervisorError: it is no instance name, or somebody else could have said what LXC is told of it."""
        layout = container_layout(self.paths, name)
        with naming(name):
            layout.check_own(self.files)
        return layout

    def names(self) -> list[str]:
        """The instances that we remember."""
        return names_in(self.files, self.paths.lxc_run_dir)

    def record(self, layout: ContainerLayout) -> ContainerRecord | None:
        """What is remembered of one. @raise HypervisorError: it cannot be read."""
        return load(self.files, layout, ContainerRecord)

    async def running(self, layout: ContainerLayout) -> RunningContainer | None:
        """One that runs. @raise HypervisorError: LXC does not tell."""
        record = self.record(layout)
        if record is None or (seen := await self.containers.look(layout)) is None:
            return None
        return RunningContainer(record, seen)
