"""Making the disks of an instance ready, on all nodes that have them."""

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.apart import split_disks, way_out
from ganeti_tx.logic.disks.on_nodes import disk_nodes, shutdowns
from ganeti_tx.logic.disks.ready import make_ready
from ganeti_tx.logic.disks.sync import wait_for_sync
from ganeti_tx.logic.instance.presence import mark_active, state_as_before
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import check_online
from ganeti_tx.model.mirror_state import SPLIT_BRAIN
from ganeti_tx.model.opcodes.instance_disks import OpInstanceActivateDisks

MARK, READY, SYNC = "mark its disks as active", "make its disks ready", "wait until its disks are in sync"


class LUInstanceActivateDisks(InstanceUnit[OpInstanceActivateDisks]):
    """Make the disks ready, whether the instance runs or not; those that are ready stay so."""

    changes_room = False

    async def check(self) -> None:
        """The primary node can be asked."""
        await super().check()
        check_online(self.target.primary, f"activate the disks of instance {self.instance.name}")

    def plan(self) -> Plan:
        """The mark first, so that nobody takes them down again; then the disks."""
        instance, nodes = (f"instance {self.instance.name}",), disk_nodes(self.target)
        steps = [] if self.instance.disks_active else [PlannedStep(MARK, (), instance)]
        steps.append(PlannedStep(READY, nodes, instance))
        return [*steps, PlannedStep(SYNC, nodes, instance)] if self.op.wait_for_sync else steps

    async def execute(self) -> list[tuple[str, str, str]]:
        """Gives each disk: the primary node, the disk's name, and the path there.

        A failure takes back what was not ready before; disks that were active, of an instance that may run, stay.
        """
        fresh = not self.instance.disks_active
        if fresh:
            async with self.step(MARK, state_as_before(self.instance)):
                await mark_active(self.config, self.instance)
        async with self.step(READY, *(shutdowns(self.target) if fresh else ())):
            paths = await make_ready(self.nodes, self.target, self.warn, ignore_size=self.op.ignore_size)
            if paths is None:
                raise OpExecError("Cannot activate block devices")
        await self._warn_of_split()
        if self.op.wait_for_sync:
            async with self.step(SYNC):
                await wait_for_sync(self.nodes, self.target, self.info, self.pause, stays=True)
        return paths

    async def _warn_of_split(self) -> None:
        """They are ready, and never become alike by themselves."""
        for index in await split_disks(self.nodes, self.target):
            self.warn(f"disk/{index} of instance {self.instance.name}: {SPLIT_BRAIN}; {way_out(self.target)}")
