"""Carrying the data of an instance's disks, all at once, over connections from node to node, or within one node."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.ends import End
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.compression import NONE
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
    """One disk on its way. @ivar told: what the operator has been told of it; `seen`: the last of both ends, by what they do."""

    index: int
    name: str
    magic: str = field(repr=False)
    told: set[str] = field(factory=set)
    seen: dict[str, TransferProgress] = field(factory=dict)

    @property
    def is_done(self) -> bool:
        """Whether both ends say so."""
        return len(self.seen) == 2 and all(end.ended for end in self.seen.values())


@define
class Carrying:
    """From one end, disk by disk, to another: first `prepare`, then `carry`.

    @ivar owner: the name of the instance.
    @ivar indices: of the disks that are meant.
    @ivar copying: what is said when a disk begins, where both ends are on one node and nobody cares which.
    """

    parts: Parts
    owner: str
    indices: Sequence[int]
    source: End
    target: End
    compress: str = NONE
    copying: Mapping[int, str] = field(factory=dict)
    _disks: Sequence[Carried] = field(factory=list)
    #: Seconds since all ends were begun, and those at the last report.
    _waited: float = 0.0
    _reported: float = 0.0

    async def prepare(self) -> Sequence[Undo]:
        """Give the ends their names. What stops them, and takes the disks down again."""
        for index in self.indices:
            name = f"disk{index}-{await self.parts.config.generate_uuid()}"
            self._disks = [*self._disks, Carried(index, name, await self.parts.config.generate_secret())]
        return [undo for end in (self.source, self.target) for each in self._disks for undo in self._undos(each, end)]

    def _undos(self, each: Carried, end: End) -> Sequence[Undo]:
        stop = ImpexpCleanup(transfer=name_of(each, end))
        return [
            *end.undos(each.index),
            on_node(f"stop copying disk/{each.index} of instance {self.owner}", end.node, stop),
        ]

    async def carry(self) -> None:
        """Copy all; the disks stay ready. @raise OpExecError: one could not be; what has come is not used."""
        for each in self._disks:
            self._begin(each)
            await self._start(each, self.target, self.source, None)
        for each in self._disks:
            port = await self._port(each)
            self._tell(each, "is now listening, starting export")
            await self._start(each, self.source, self.target, port)
        await self._until_done()
        await self._forget()

    def _begin(self, each: Carried) -> None:
        usual = f"Exporting disk/{each.index} from {self.source.node.name} to {self.target.node.name}"
        self.parts.info(self.copying.get(each.index, usual))

    async def _start(self, each: Carried, end: End, other: End, port: int | None) -> None:
        """Make the disk of an end ready, and have it listen, or connect to the other's port."""
        told: dict[str, Any] = {
            "transfer": name_of(each, end),
            "magic": each.magic,
            "peer": other.node.name,
            "compress": self.compress,
            "connect_limit": TO_CONNECT,
            "address": self.target.node.secondary_ip,
            **({} if port is None else {"port": port}),
        }
        for call in end.calls(each.index, told):
            await self._call(each, end.node, call)

    async def _call(self, each: Carried, node: Node, call: NodeCall[Any]) -> None:
        try:
            await self.parts.nodes.call(node, call)
        except RpcError as error:
            raise self._failed(each, str(error)) from None

    def _failed(self, each: Carried, why: str) -> OpExecError:
        return OpExecError(f"could not copy disk/{each.index} of instance {self.owner}: {why}")

    async def _port(self, each: Carried) -> int:
        waited = 0.0
        while waited < TO_LISTEN:
            [status] = await self._look([each], self.target)
            if status is not None and status.port is not None:
                return status.port
            self._refuse(each, self.target, status)
            await self.parts.pause(FIRST_LOOK)
            waited += FIRST_LOOK
        raise self._failed(each, f"node {self.target.node.name} does not listen")

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

    async def _until_done(self) -> None:
        wait = FIRST_LOOK
        while not await self._look_at_all():
            await self.parts.pause(wait)
            self._waited += wait
            self._report()
            wait = min(LONGEST_LOOK, wait * 1.5)

    async def _look_at_all(self) -> bool:
        """Whether all is done."""
        for end, other in ((self.target, self.source), (self.source, self.target)):
            for each, status in zip(self._disks, await self._look(self._disks, end), strict=True):
                if status is None:
                    self._miss(each, end)
                    continue
                if status.error:
                    await self._blame(each, other, status)
                each.seen[end.does] = self._seen(each, end, status)
        return all(each.is_done for each in self._disks)

    async def _blame(self, each: Carried, other: End, status: TransferProgress) -> None:
        """One end has failed. @raise OpExecError: it was because of the other, which says why."""
        if BROKEN_OFF in status.error:
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
        if what not in each.told and not self.copying:
            each.told.add(what)
            self.parts.info(f"disk/{each.index} {what}")

    def _report(self) -> None:
        """How far each disk is, once a minute."""
        if self._waited - self._reported < REPORT:
            return
        self._reported = self._waited
        for each in self._disks:
            end = each.seen.get(self.source.does)
            if end is not None and not end.ended and end.done is not None:
                left = f", {end.left:.0f} seconds left" if end.left is not None else ""
                percent = f" ({end.percent:.0f}%)" if end.percent is not None else ""
                self.parts.info(f"disk/{each.index} sent {end.done} MiB{percent}{left}")

    async def _forget(self) -> None:
        """What the nodes keep of it is of no use any more."""
        for end in (self.source, self.target):
            for each in self._disks:
                try:
                    await self.parts.nodes.call(end.node, ImpexpCleanup(transfer=name_of(each, end)))
                except RpcError as error:
                    self.parts.warn(f"node {end.node.name} keeps notes of transfer {name_of(each, end)}: {error}")

    @property
    def sums(self) -> Mapping[int, str]:
        """The checksum of each disk that has come, where the end that received has told it."""
        return {each.index: each.seen[self.target.does].sha256 for each in self._disks}


def name_of(each: Carried, end: End) -> str:
    """What an end of a disk's transfer is called."""
    return f"{each.name}-{end.does}"
