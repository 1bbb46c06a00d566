"""Live migration to a node that does not reach the disks: they are made there, and filled while the instance runs.

The new node becomes the primary one only when its disks are whole; from then on the guest's writes are done when both have them.
"""

from collections.abc import Sequence

from attrs import define

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.make import create_disks, creations, removal
from ganeti_tx.logic.disks.on_nodes import remove_disks
from ganeti_tx.logic.instance.moves import disks
from ganeti_tx.logic.instance.moves.migrating import ACCEPT, Migrating
from ganeti_tx.logic.instance.moves.mirror_roles import open_disks
from ganeti_tx.logic.instance.moves.move import places
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.undos import in_config
from ganeti_tx.model.migration import DiskCopyProgress
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk_copies import InstanceCopyDisks, InstanceCopyStatus, InstanceOfferDisks
from ganeti_tx.rpc.calls.migration import InstanceMigrationSide
from ganeti_tx.rpc.interfaces import NodeCallError, RpcError

COPY, PLACE = "copy its disks while it runs", "change its primary node"
REMOVE = "remove its disks on its old node"
#: Seconds between two looks, looks between two words about it, and looks in a row without an answer.
INTERVAL = 1.0
TELL_EVERY = 15
MAX_VAIN = 30
#: So often in a row what waits on the new node may not answer its node; the guest's writes wait for it meanwhile.
MAX_SILENT = 3


@define
class MigratingWithDisks(Migrating):
    """See `Migrating`; what fails before the end leaves the disks where they were, and none on the new node."""

    def plan(self) -> Plan:
        """With the disks, first and last."""
        move, instance = self.move, (f"instance {self.move.name}",)
        found: list[PlannedStep] = [*creations(move.after)]
        for step in super().plan():
            found.append(step)
            if step.title == ACCEPT:
                found += [PlannedStep(COPY, move.nodes, instance), PlannedStep(PLACE, (), instance)]
        return [*found, PlannedStep(REMOVE, (move.source.name,), instance)]

    async def run(self) -> None:
        """See `Migrating`."""
        await create_disks(self.parts.nodes, self.move.after, self.steps)
        await super().run()
        await self.steps.settle(*self._leavings())
        self.parts.info("- INFO: Removing the disks on the original node")
        async with self.parts.step(REMOVE):
            await remove_disks(self.parts.nodes, self.move.before, self.parts.warn)

    async def _wait_there(self, *undos: Undo) -> None:
        move = self.move
        async with self.parts.step(ACCEPT, *undos):
            await self._call_accept()
        async with self.parts.step(COPY):
            await self._copy()
        back = in_config(
            f"name node {move.source.name} as the primary node of instance {move.name} again",
            IConfig.place_instance,
            *places(move.before),
        )
        async with self.parts.step(PLACE, back):
            await self.parts.config.place_instance(*places(move.after))

    async def _copy(self) -> None:
        move = self.move
        self.parts.info(f"* copying the disks of instance {move.name} to {move.target.name}")
        address, source = move.target.secondary_ip, move.source.secondary_ip
        offer = InstanceOfferDisks(instance=move.after.spec(), target=address, source=source)
        try:
            port = await self.parts.nodes.call(move.target, offer)
            call = InstanceCopyDisks(
                instance=move.before.spec(),
                target=address,
                port=port,
                tls=self._tls[0],
                source=source,
                info=self.info,
            )
            await self.parts.nodes.call(move.source, call)
        except RpcError as error:
            raise OpExecError(f"could not copy the disks of instance {move.name}: {error}") from None
        looks = silent = 0
        while not (progress := await self._look()).whole:
            looks += 1
            silent = await self._ask_target(silent)
            if looks % TELL_EVERY == 0 and progress.total:
                self.parts.info(f"* disk copy progress: {100 * progress.copied / progress.total:.2f} %")
            await self.parts.pause(INTERVAL)
        self.parts.info(f"* disks copied, {progress.copied >> 20} MiB")

    async def _look(self) -> DiskCopyProgress:
        """@raise OpExecError: a disk cannot be copied, or nobody knows."""
        name, call = self.move.name, InstanceCopyStatus(instance=self.move.before.spec())
        for _ in range(MAX_VAIN):
            try:
                progress = await self.parts.nodes.call(self.move.source, call)
            except RpcError as error:
                last = error
                await self.parts.pause(INTERVAL)
                continue
            if progress.fault:
                raise OpExecError(f"could not copy the disks of instance {name}: {progress.fault}")
            return progress
        raise OpExecError(f"could not copy the disks of instance {name}: nobody knows how far that is: {last}")

    async def _ask_target(self, silent: int) -> int:
        """How often in a row what waits there has not answered. @param silent: up to now. @raise OpExecError: too often."""
        name = self.move.name
        try:
            await self.parts.nodes.call(self.move.target, InstanceMigrationSide.of(self.move.instance))
        except RpcError as error:
            if silent + 1 >= (MAX_SILENT if isinstance(error, NodeCallError) else MAX_VAIN):
                raise OpExecError(f"could not copy the disks of instance {name}: {error}") from None
            return silent + 1
        return 0

    def _leavings(self) -> Sequence[Undo]:
        return [removal(self.move.before, self.move.source, index) for index in range(len(self.move.before.disks))]

    async def _leave_disks(self) -> None:
        move = self.move
        await disks.close(self.parts.nodes, move.before, move.source)
        await disks.shut_down(self.parts.nodes, move.before, move.source)
        await open_disks(self.parts, move.after, move.target, exclusive=True)
