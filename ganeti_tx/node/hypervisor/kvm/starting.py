"""How instances come to run: planned, started standing still, made ready over QMP, let go; what fails leaves nothing."""

from collections.abc import Awaitable, Callable, Sequence

import attrs
from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.kvm.ending import Ending
from ganeti_tx.node.hypervisor.kvm.ends import Ends
from ganeti_tx.node.hypervisor.kvm.launching import Launching
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.planned_state import planned_state
from ganeti_tx.node.hypervisor.kvm.planning import Planning
from ganeti_tx.node.hypervisor.kvm.remains import Remains
from ganeti_tx.node.hypervisor.kvm.uid_pool import UidPool
from ganeti_tx.node.hypervisor.kvm.users import user_of
from ganeti_tx.node.hypervisor.names import naming


async def nothing_more(plan: QemuPlan) -> None:
    """What is done with an instance that is only started."""


@frozen
class Starting:
    """Of instances that begin anew here, and of those that take over from another node."""

    machines: OwnMachines
    remains: Remains
    planning: Planning
    uids: UidPool
    launching: Launching
    ending: Ending
    ends: Ends

    async def start(self, instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool = False) -> None:
        """See `IHypervisor`."""
        layout = await self.make_way(instance.name)
        with naming(instance.name):
            await self.bring_up(await self.planning.plan(instance, disks, layout), paused)

    async def make_way(self, name: str) -> InstanceLayout:
        """Leave nothing of what has ended by itself. @raise HypervisorError: it runs."""
        layout = self.machines.layout(name)
        if self.machines.pid(layout) is not None:
            raise HypervisorError(f"instance {name} runs already")
        await self.remains.clear(layout, self.machines.readable_state(layout))
        return layout

    async def bring_up(
        self, plan: QemuPlan, paused: bool, also: Callable[[QemuPlan], Awaitable[None]] = nothing_more
    ) -> None:
        """From a plan to an instance that runs and with which something else has been done, or to nothing."""
        with user_of(self.uids, plan.params) as run_as:
            plan = attrs.evolve(plan, run_as=run_as)
            state = planned_state(plan)
            started = False
            try:
                await self.launching.launch(plan, state)
                await self.launching.make_ready(plan, state, paused)
                await also(plan)
                started = True
            finally:
                if not started:
                    await self.ending.end(plan.files, state)
        self.ends.watch(plan.files)
