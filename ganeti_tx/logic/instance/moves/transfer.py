"""Sending an instance's memory, and telling how far that is."""

from attrs import define

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.instance.moves.move import Move
from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.migration import MigrationProgress, MigrationState
from ganeti_tx.rpc.calls.migration import InstanceGetMigrationStatus, InstanceMigrate
from ganeti_tx.rpc.interfaces import RpcError

#: Seconds for which a look waits for the end; seconds between two looks, and looks between two words about it.
INTERVAL = 0.5
PAUSE = 0.05
TELL_EVERY = 20
#: After so many looks in a row without an answer the node is taken for lost.
MAX_VAIN = 5
UNDER_WAY = (MigrationState.ACTIVE, MigrationState.POSTCOPY)


@define
class Transfer:
    """One transfer, from the old node to the new one, over their secondary addresses."""

    parts: Parts
    move: Move
    cluster_name: str
    live: bool

    async def run(self) -> None:
        """Send all. @raise OpExecError: it failed, or nobody knows."""
        move = self.move
        self.parts.info("* starting memory transfer")
        call = InstanceMigrate(
            cluster_name=self.cluster_name,
            instance=move.before.spec(),
            target=move.target.secondary_ip,
            live=self.live,
        )
        try:
            await self.parts.nodes.call(move.source, call)
        except RpcError as error:
            raise OpExecError(f"could not migrate instance {move.name}: {error}") from None
        told = summary(await self._ended())
        self.parts.info("* memory transfer complete")
        if told:
            self.parts.info(told)

    async def _ended(self) -> MigrationProgress:
        looks = 0
        while (progress := await self._look()).status in UNDER_WAY:
            looks += 1
            if looks % TELL_EVERY == 0 and progress.total_ram:
                percent = 100 * (progress.transferred_ram or 0) / progress.total_ram
                self.parts.info(f"* memory transfer progress: {percent:.2f} %")
            await self.parts.pause(PAUSE)
        if progress.status is not MigrationState.COMPLETED:
            reason = f": {progress.reason}" if progress.reason else ""
            raise OpExecError(
                f"could not migrate instance {self.move.name}: the transfer has {progress.status}{reason}"
            )
        return progress

    async def _look(self) -> MigrationProgress:
        call = InstanceGetMigrationStatus(instance=self.move.before.spec(), wait=INTERVAL)
        for vain in range(MAX_VAIN):
            try:
                return await self.parts.nodes.call(self.move.source, call)
            except RpcError as error:
                last = error
                await self.parts.pause(INTERVAL * vain)
        raise OpExecError(f"could not migrate instance {self.move.name}: nobody knows how far it is: {last}")


def summary(progress: MigrationProgress) -> str:
    """How long it took, and how long the guest stood still."""
    if progress.total_time is None:
        return ""
    sent = f", {progress.transferred_ram >> 20} MiB sent" if progress.transferred_ram else ""
    still = "" if progress.downtime is None else f", the guest stood still for {progress.downtime} ms"
    return f"* total time {progress.total_time / 1000:.2f} s{still}{sent}"
