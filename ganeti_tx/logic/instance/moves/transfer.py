"""Sending an instance's memory, and telling how far that is."""

from collections.abc import Mapping
from typing import Any

from attrs import define, field

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.instance.moves.convergence import PATIENCE, how_far, is_endless, why_endless
from ganeti_tx.logic.instance.moves.move import Move
from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.migration import MigrationProgress, MigrationState, MigrationTls
from ganeti_tx.rpc.calls.migration import InstanceAcceptAgain, InstanceGetMigrationStatus, InstanceMigrate
from ganeti_tx.rpc.interfaces import RpcError

#: Seconds for which a look waits for the end; seconds between two looks, and looks between two words about it.
INTERVAL = 0.5
PAUSE = 0.05
TELL_EVERY = 20
#: After so many looks in a row without an answer the node is taken for lost.
MAX_VAIN = 5
#: So often a connection that was lost is made anew, and so many seconds apart.
RECONNECTS = 5
RECONNECT_AFTER = 5.0
UNDER_WAY = (MigrationState.ACTIVE, MigrationState.POSTCOPY)
#: What has become of one that has ended otherwise than it should.
ENDED: Mapping[MigrationState, str] = {MigrationState.FAILED: "failed", MigrationState.CANCELLED: "been cancelled"}


@define
class Transfer:
    """One transfer, from the old node to the new one, over their secondary addresses.

    @ivar info: what the new node was told of the machine that is sent.
    @ivar failed: whether the old node says that it has, which may not know why.
    """

    parts: Parts
    move: Move
    cluster_name: str
    live: bool
    tls: MigrationTls | None = None
    info: dict[str, Any] | None = None
    failed: bool = field(default=False, init=False)

    async def run(self) -> None:
        """Send all. @raise OpExecError: it failed, or nobody knows."""
        move = self.move
        self.parts.info("* starting memory transfer")
        call = InstanceMigrate(
            cluster_name=self.cluster_name,
            instance=move.before.spec(),
            target=move.target.secondary_ip,
            live=self.live,
            tls=self.tls,
            source=move.source.secondary_ip,
            info=self.info,
        )
        try:
            await self.parts.nodes.call(move.source, call)
        except RpcError as error:
            raise OpExecError(f"could not migrate instance {move.name}: {error}") from None
        told = summary(await self.ended())
        self.parts.info("* memory transfer complete")
        if told:
            self.parts.info(told)

    async def ended(self) -> MigrationProgress:
        """How it ended, in full. @raise OpExecError: it has not, or nobody knows."""
        looks = vain = endless = 0
        warned = False
        while (progress := await self._look()).status in (*UNDER_WAY, MigrationState.PAUSED):
            if progress.status is MigrationState.PAUSED:
                await self._connect_again(vain)
                vain += 1
                continue
            looks += 1
            if looks % TELL_EVERY == 0 and (told := how_far(progress)):
                self.parts.info(f"* {told}")
            endless = endless + 1 if is_endless(progress) else 0
            if endless == PATIENCE and not warned:
                warned = True
                self.parts.warn(why_endless(progress))
            await self.parts.pause(PAUSE)
        if progress.status is not MigrationState.COMPLETED:
            self.failed = progress.status is MigrationState.FAILED
            reason = f": {progress.reason}" if progress.reason else ""
            raise OpExecError(
                f"could not migrate instance {self.move.name}: the transfer has {ENDED[progress.status]}{reason}"
            )
        return progress

    async def why_not_there(self) -> str:
        """What the new node knows of one that has failed."""
        if not self.failed:
            return ""
        try:
            there = await self.parts.nodes.call(
                self.move.target, InstanceGetMigrationStatus(instance=self.move.after.spec())
            )
        except RpcError:
            return ""
        told = there.status is MigrationState.FAILED and there.reason
        return f"on node {self.move.target.name}: {there.reason}" if told else ""

    async def _connect_again(self, vain: int) -> None:
        """The instance runs on its new node already, and waits where it misses memory; nothing but going on helps it."""
        move = self.move
        if vain >= RECONNECTS:
            raise OpExecError(
                f"instance {move.name} runs on node {move.target.name}, but some of its memory is still on node"
                f" {move.source.name}, and the connection between them is lost; stop it on neither, and when they reach each"
                f" other '{move.clean_up}' goes on"
            )
        if vain:
            await self.parts.pause(RECONNECT_AFTER)
        self.parts.warn(f"the connection is lost; trying to fetch the rest of the memory of instance {move.name}")
        address = move.target.secondary_ip
        again = InstanceMigrate(
            cluster_name=self.cluster_name, instance=move.before.spec(), target=address, live=self.live, again=True
        )
        try:
            await self.parts.nodes.call(move.target, InstanceAcceptAgain(instance=move.after.spec(), target=address))
            await self.parts.nodes.call(move.source, again)
        except RpcError as error:
            self.parts.warn(f"that does not work: {error}")

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
