"""The transfers of an instance's disks, as their ends tell how far they are."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.ends import RECEIVING, End
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.transfer import ImpexpCleanup, ImpexpStatus, TransferProgress
from ganeti_tx.rpc.interfaces import NodeUnreachableError, RpcError

#: Seconds between two looks at first and at last, and those within which an end must say where it listens, and be found.
FIRST_LOOK, LONGEST_LOOK, TO_LISTEN, TO_CONNECT = 0.2, 5.0, 30.0, 60.0
#: Seconds between two tries, and those in which a node daemon that cannot be reached must be back: the ends do not need it.
AWAY_LOOK, TO_RETURN = 2.0, 10.0
#: Seconds between two reports.
REPORT = 60.0
#: What an end says that does not know why.
BROKEN_OFF = "broken off"
#: Characters of what the programs of an end have said that are told.
TOLD = 500


@define
class Carried:
    """One disk on its way. @ivar told: what the operator has been told of it; `seen`: the last of its ends, by what they do."""

    index: int
    name: str
    magic: str = field(repr=False)
    told: set[str] = field(factory=set)
    seen: dict[str, TransferProgress] = field(factory=dict)


@define
class Following(ABC):
    """Those of some disks, of which one end or both are in this cluster.

    @ivar owner: the name of the instance.
    @ivar indices: of the disks that are meant.
    """

    parts: Parts
    owner: str
    indices: Sequence[int]
    _disks: Sequence[Carried] = field(factory=list, init=False)
    #: Seconds since all ends were begun, and those at the last report.
    _waited: float = field(default=0.0, init=False)
    _reported: float = field(default=0.0, init=False)

    @property
    @abstractmethod
    def ends(self) -> Sequence[End]:
        """Those in this cluster, in the order in which they are looked at."""

    async def prepare(self) -> Sequence[Undo]:
        """Give the ends their names. What stops them, and takes the disks down again."""
        for index in self.indices:
            name = f"disk{index}-{await self.parts.config.generate_uuid()}"
            self._disks = [*self._disks, Carried(index, name, await self.magic(index))]
        return [
            undo
            for end in reversed(self.ends)
            for each in self._disks
            for undo in (*end.undos(each.index), self._stop(each, end))
        ]

    def stops(self) -> Sequence[Undo]:
        """What stops the ends alone."""
        return [self._stop(each, end) for end in self.ends for each in self._disks]

    async def magic(self, index: int) -> str:
        """What comes before the bytes of a disk."""
        return await self.parts.config.generate_secret()

    def _stop(self, each: Carried, end: End) -> Undo:
        call = ImpexpCleanup(transfer=name_of(each, end))
        return on_node(f"stop copying disk/{each.index} of instance {self.owner}", end.node, call)

    async def _call(self, each: Carried, node: Node, call: NodeCall[Any]) -> None:
        try:
            await self.parts.nodes.call(node, call)
        except RpcError as error:
            raise self._failed(each, str(error)) from None

    def _failed(self, each: Carried, why: str) -> OpExecError:
        return OpExecError(f"could not copy disk/{each.index} of instance {self.owner}: {why}")

    async def _port(self, each: Carried, end: End) -> int:
        """Where an end listens, when it does."""
        waited = 0.0
        while waited < TO_LISTEN:
            [status] = await self._look([each], end)
            if status is not None and status.port is not None:
                return status.port
            self._refuse(each, end, status)
            await self.parts.pause(FIRST_LOOK)
            waited += FIRST_LOOK
        raise self._failed(each, f"node {end.node.name} does not listen")

    async def _look(self, disks: Sequence[Carried], end: End) -> Sequence[TransferProgress | None]:
        waited = 0.0
        while True:
            try:
                return await self.parts.nodes.call(
                    end.node, ImpexpStatus(transfers=[name_of(each, end) for each in disks])
                )
            except RpcError as error:
                if not isinstance(error, NodeUnreachableError) or waited >= TO_RETURN:
                    raise self._failed(disks[0], str(error)) from None
            await self.parts.pause(AWAY_LOOK)
            waited += AWAY_LOOK

    def _refuse(self, each: Carried, end: End, status: TransferProgress | None) -> None:
        """@raise OpExecError: an end has failed."""
        if status is not None and status.error:
            said = "; ".join(status.said)[-TOLD:]
            raise self._failed(each, f"node {end.node.name}: {status.error}{f' ({said})' if said else ''}")

    async def until(self, done: Callable[[TransferProgress], bool]) -> None:
        """Look at all ends until each is so far. @raise OpExecError: one has failed."""
        wait = FIRST_LOOK
        while not await self._are(done):
            await self.parts.pause(wait)
            self._waited += wait
            self._report()
            wait = min(LONGEST_LOOK, wait * 1.5)

    async def until_done(self) -> None:
        """Until all ends say that they have ended."""
        await self.until(lambda status: status.ended)

    async def _are(self, done: Callable[[TransferProgress], bool]) -> bool:
        for end in self.ends:
            for each, status in zip(self._disks, await self._look(self._disks, end), strict=True):
                if status is None:
                    self._miss(each, end)
                    continue
                if status.error:
                    await self._blame(each, end, status)
                each.seen[end.does] = self._seen(each, end, status)
        return all(end.does in each.seen and done(each.seen[end.does]) for each in self._disks for end in self.ends)

    async def _blame(self, each: Carried, end: End, status: TransferProgress) -> None:
        """One end has failed. @raise OpExecError: it was because of another, which says why."""
        for other in self.ends:
            if other is not end and BROKEN_OFF in status.error:
                await self.parts.pause(FIRST_LOOK)
                [known] = await self._look([each], other)
                self._refuse(each, other, known)

    def _miss(self, each: Carried, end: End) -> None:
        """@raise OpExecError: an end is not there any more, or has not said anything for too long."""
        if end.does in each.seen:
            raise self._failed(each, f"node {end.node.name} knows nothing of it any more")
        if self._waited > TO_LISTEN:
            raise self._failed(each, f"nothing is heard of its end on node {end.node.name}")

    def _seen(self, each: Carried, end: End, status: TransferProgress) -> TransferProgress:
        """Tell what is new. @raise OpExecError: it has failed."""
        self._refuse(each, end, status)
        if status.connected and not status.ended:
            self._tell(each, f"is {end.does} data on {end.node.name}")
        if status.ended:
            self._tell(each, f"finished {end.does} data")
        return status

    def _tell(self, each: Carried, what: str) -> None:
        if what not in each.told and self._is_told:
            each.told.add(what)
            self.parts.info(f"disk/{each.index} {what}")

    @property
    def _is_told(self) -> bool:
        """Whether the operator hears of each end."""
        return True

    def _report(self) -> None:
        """How far each disk is, once a minute."""
        if self._waited - self._reported < REPORT:
            return
        self._reported = self._waited
        does = self.ends[-1].does
        for each in self._disks:
            end = each.seen.get(does)
            if end is not None and not end.ended and end.done is not None:
                left = f", {end.left:.0f} seconds left" if end.left is not None else ""
                percent = f" ({end.percent:.0f}%)" if end.percent is not None else ""
                word = "received" if does == RECEIVING else "sent"
                self.parts.info(f"disk/{each.index} {word} {end.done} MiB{percent}{left}")

    async def forget(self) -> None:
        """What the nodes keep of it is of no use any more."""
        for end in self.ends:
            for each in self._disks:
                try:
                    await self.parts.nodes.call(end.node, ImpexpCleanup(transfer=name_of(each, end)))
                except RpcError as error:
                    self.parts.warn(f"node {end.node.name} keeps notes of transfer {name_of(each, end)}: {error}")


def name_of(each: Carried, end: End) -> str:
    """What an end of a disk's transfer is called."""
    return f"{each.name}-{end.does}"
