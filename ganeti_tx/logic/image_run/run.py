"""One run of an instance from an image: a disk with it, a start, a wait until the instance ends itself, and all of it gone."""

from collections.abc import Awaitable, Callable, Mapping

import attrs
from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.disks.on_nodes import assemble_elsewhere, disk_nodes, shutdowns
from ganeti_tx.logic.image_run.disk import plan_image_disk
from ganeti_tx.logic.instance.presence import is_running, own_machine, pass_on, stop_call
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import check_free_memory
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevCreate, BlockdevRemove
from ganeti_tx.rpc.calls.image import BlockdevImage
from ganeti_tx.rpc.calls.instance import InstanceInfo, InstanceStart
from ganeti_tx.rpc.interfaces import R, RpcError

FILL, RUN = "put the image on a disk of its own", "run the instance from the image until it powers itself off"
CLEAR = "remove the disk with the image"
#: Seconds until it must have been seen to run, and between two looks.
STARTUP_TIMEOUT = 300
INTERVAL = 2.0
#: Called at each look while it runs.
Look = Callable[[], Awaitable[None]]


async def nothing() -> None:
    """There is nothing to look at."""


@attrs.frozen
class ImageRun:
    """What was decided about it. @ivar spec: the instance as it is started; its first disk is the one with the image.

    @ivar startup, limit: seconds until it must have been seen, and for all of it.
    """

    parts: Parts
    target: InstanceView
    image: str
    disk: DiskSpec
    startup: int
    limit: float

    @classmethod
    async def planned(
        cls,
        parts: Parts,
        target: InstanceView,
        image: str,
        limit: float,
        startup: int | None = None,
        *,
        runs: bool = False,
    ) -> "ImageRun":
        """@param runs: it does now, and will have been stopped by then.

        @raise OpPrereqError: the hypervisor cannot do it, or the node cannot have the image or the machine."""
        instance = target.instance
        if HYPERVISORS[instance.hypervisor].from_first_disk is None:
            able = sorted(word.value for word, kind in HYPERVISORS.items() if kind.from_first_disk is not None)
            raise OpPrereqError(
                f"instance {instance.name} cannot be started from an image under hypervisor"
                f" {instance.hypervisor.value}; that can {', '.join(able)}",
                ECode.STATE,
            )
        needed = int(target.spec().beparams["maxmem"])
        purpose = f"starting instance {instance.name} from an image"
        if not runs:
            await check_free_memory(parts.nodes, target.primary, instance.hypervisor.value, needed, purpose)
        disk = await plan_image_disk(parts, target, image)
        return cls(parts, target, image, disk, STARTUP_TIMEOUT if startup is None else startup, limit)

    def steps(self) -> Plan:
        """In order."""
        name, home = (f"instance {self.target.instance.name}",), (self.target.primary.name,)
        return [
            PlannedStep(FILL, home, name),
            PlannedStep(RUN, disk_nodes(self.target), name, self.limit),
            PlannedStep(CLEAR, home, name),
        ]

    def spec(self, filled: InstanceSpec) -> InstanceSpec:
        """The instance as it is started: from the image, and with nobody else's help."""
        boot = HYPERVISORS[self.target.instance.hypervisor].from_first_disk or {}
        first = replace(self.disk, mode="ro")
        return replace(filled, disks=[first, *filled.disks], hvparams={**filled.hvparams, **boot})

    async def run(
        self, filled: InstanceSpec, look: Look = nothing, variables: Mapping[str, str] = {}, down: bool = True
    ) -> None:
        """Do all of it. @param filled: the instance as it is otherwise. @param down: whether its disks are not ready now.

        @raise OpExecError: why it did not end, or could not begin.
        """
        owner, node = self.target.instance.name, self.target.primary
        removal = BlockdevRemove(disk=self.disk, owner=owner)
        async with self.parts.step(
            FILL, on_node(f"remove the disk with the image for instance {owner}", node, removal)
        ):
            await self._call(BlockdevCreate(disk=self.disk, owner=owner))
            await self._call(BlockdevImage(disk=self.disk, image=self.image, size=self.disk.size))
        async with self.parts.step(RUN, *(shutdowns(self.target) if down else ()), self._stop_undo()):
            await assemble_elsewhere(self.parts.nodes, self.target, self.parts.warn)
            said = await self._call(InstanceStart(instance=self.spec(filled), variables=dict(variables)))
            pass_on(said, self.target, self.parts.warn)
            try:
                await self._until_down(look)
            finally:
                await self._call(
                    stop_call(self.target, 0, force=True)
                )  # of one that ended itself something may be left
        async with self.parts.step(CLEAR):
            await self._call(removal)

    def _stop_undo(self) -> Undo:
        name = self.target.instance.name
        return on_node(
            f"stop instance {name}, which runs from an image", self.target.primary, stop_call(self.target, 0, True)
        )

    async def _until_down(self, look: Look) -> None:
        """Wait. @raise OpExecError: its time is over."""
        name, waited, seen = self.target.instance.name, 0.0, False
        while waited < (self.limit if seen else min(self.limit, self.startup)):
            state = await self._state()
            if state is False:
                await look()
                return
            seen = seen or state is True
            if seen:
                await look()
            await self.parts.pause(INTERVAL)
            waited += INTERVAL
        if not seen:
            raise OpExecError(f"instance {name} was not seen to run from the image within {self.startup} seconds")
        raise OpExecError(
            f"instance {name} did not power itself off within {self.limit:g} seconds after its start from the image"
        )

    async def _state(self) -> bool | None:
        """Whether it runs; None if its node does not tell."""
        instance = self.target.instance
        try:
            seen = await self.parts.nodes.call(self.target.primary, InstanceInfo.of(instance))
            return is_running(own_machine(seen, instance))
        except RpcError:
            return None

    async def _call(self, call: NodeCall[R]) -> R:
        try:
            return await self.parts.nodes.call(self.target.primary, call)
        except RpcError as error:
            raise OpExecError(f"instance {self.target.instance.name} cannot be run from the image: {error}") from None
