"""Copying the disks of an instance that is stopped, all at once, over connections from node to node, or within one node."""

from collections.abc import Sequence
from typing import Any

from attrs import define, field, frozen
from msgspec.structs import replace

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.compression import NONE
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.sizes import shown
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevShutdown
from ganeti_tx.rpc.calls.transfer import ExportStart, ImpexpCleanup, ImpexpStatus, ImportStart, TransferProgress
from ganeti_tx.rpc.interfaces import NodeUnreachableError, RpcError

#: Seconds between two looks at first and at last, and those within which an end must say where it listens, and be found.
FIRST_LOOK, LONGEST_LOOK, TO_LISTEN, TO_CONNECT = 0.2, 5.0, 30.0, 60.0
#: Seconds between two tries, and those in which a node daemon that cannot be reached must be back: the ends do not need it.
AWAY_LOOK, TO_RETURN = 2.0, 10.0
#: Seconds between two reports.
REPORT = 60.0
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


@frozen
class End:
    """Where disks come from, or go to. @ivar aside: whether they are without their stable names, as others have them."""

    does: str
    view: InstanceView
    aside: bool

    @property
    def node(self) -> Node:
        """The node."""
        return self.view.primary

    def spec(self, index: int) -> DiskSpec:
        """A disk as the node must know it."""
        spec = self.view.disk_specs()[index]
        return replace(spec, index=-1) if self.aside else spec

    def name(self, each: Carried) -> str:
        """What the end of a disk's transfer is called."""
        return f"{each.name}-{self.does}"


@define
class Carrying:
    """From the disks of one view of an instance to those of another: first `prepare`, then `carry`.

    @ivar aside: whether both are on one node, so that neither gets its stable name.
    """

    parts: Parts
    source: InstanceView
    target: InstanceView
    compress: str = NONE
    aside: bool = False
    _disks: Sequence[Carried] = field(factory=list)
    _from: End = field(init=False)
    _to: End = field(init=False)
    #: Seconds since all ends were begun, and those at the last report.
    _waited: float = 0.0
    _reported: float = 0.0

    def __attrs_post_init__(self) -> None:
        self._from, self._to = End("sending", self.source, self.aside), End("receiving", self.target, self.aside)

    async def prepare(self) -> Sequence[Undo]:
        """Give the ends their names. What stops them, and takes the disks down again."""
        names = [await self.parts.config.generate_uuid() for _ in self.source.disks]
        self._disks = [
            Carried(index, f"disk{index}-{name}", await self.parts.config.generate_secret())
            for index, name in enumerate(names)
        ]
        return [undo for end in (self._from, self._to) for each in self._disks for undo in self._undos(each, end)]

    def _undos(self, each: Carried, end: End) -> Sequence[Undo]:
        owner = self.source.instance.name
        down = BlockdevShutdown(disk=without_secret(end.spec(each.index)), owner=owner)
        stop = ImpexpCleanup(transfer=end.name(each))
        return [
            on_node(f"shut down disk/{each.index} of instance {owner}", end.node, down),
            on_node(f"stop copying disk/{each.index} of instance {owner}", end.node, stop),
        ]

    async def carry(self) -> None:
        """Copy all; the disks stay ready. @raise OpExecError: one could not be; what has come is not used."""
        for each in self._disks:
            self._begin(each)
            await self._start(each, self._to, self._from, None)
        for each in self._disks:
            port = await self._port(each)
            self._tell(each, "is now listening, starting export")
            await self._start(each, self._from, self._to, port)
        await self._until_done()
        await self._forget()

    def _begin(self, each: Carried) -> None:
        if self.aside:
            disk = self.source.disks[each.index]
            word = disk.dev_type.value
            self.parts.info(f"- copying data from disk {each.index} ({word}), size {shown(disk.size)}")
        else:
            self.parts.info(f"Exporting disk/{each.index} from {self._from.node.name} to {self._to.node.name}")

    async def _start(self, each: Carried, end: End, other: End, port: int | None) -> None:
        """Make the disk of an end ready, and have it listen, or connect to the other's port."""
        instance, spec = self.source.instance, end.spec(each.index)
        ready = BlockdevAssemble(disk=spec, owner=instance.name, hypervisor=instance.hypervisor.value)
        await self._call(each, end.node, ready)
        common: dict[str, Any] = {
            "transfer": end.name(each),
            "disk": spec,
            "magic": each.magic,
            "peer": other.node.name,
            "compress": self.compress,
            "connect_limit": TO_CONNECT,
            "address": self._to.node.secondary_ip,
        }
        await self._call(each, end.node, ImportStart(**common) if port is None else ExportStart(**common, port=port))

    async def _call(self, each: Carried, node: Node, call: BlockdevAssemble | ImportStart | ExportStart) -> None:
        try:
            await self.parts.nodes.call(node, call)
        except RpcError as error:
            raise self._failed(each, str(error)) from None

    def _failed(self, each: Carried, why: str) -> OpExecError:
        return OpExecError(f"could not copy disk/{each.index} of instance {self.source.instance.name}: {why}")

    async def _port(self, each: Carried) -> int:
        waited = 0.0
        while waited < TO_LISTEN:
            [status] = await self._look([each], self._to)
            if status is not None and status.port is not None:
                return status.port
            self._refuse(each, self._to, status)
            await self.parts.pause(FIRST_LOOK)
            waited += FIRST_LOOK
        raise self._failed(each, f"node {self._to.node.name} does not listen")

    async def _look(self, disks: Sequence[Carried], end: End) -> Sequence[TransferProgress | None]:
        waited = 0.0
        while True:
            try:
                return await self.parts.nodes.call(end.node, ImpexpStatus(transfers=[end.name(each) for each in disks]))
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
        for end in (self._to, self._from):
            for each, status in zip(self._disks, await self._look(self._disks, end), strict=True):
                if status is not None:
                    each.seen[end.does] = self._seen(each, end, status)
                else:
                    self._miss(each, end)
        return all(each.is_done for each in self._disks)

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
        if what not in each.told and not self.aside:
            each.told.add(what)
            self.parts.info(f"disk/{each.index} {what}")

    def _report(self) -> None:
        """How far each disk is, once a minute."""
        if self._waited - self._reported < REPORT:
            return
        self._reported = self._waited
        for each in self._disks:
            end = each.seen.get(self._from.does)
            if end is not None and not end.ended and end.done is not None:
                left = f", {end.left:.0f} seconds left" if end.left is not None else ""
                percent = f" ({end.percent:.0f}%)" if end.percent is not None else ""
                self.parts.info(f"disk/{each.index} sent {end.done} MiB{percent}{left}")

    async def _forget(self) -> None:
        """What the nodes keep of it is of no use any more."""
        for end in (self._from, self._to):
            for each in self._disks:
                try:
                    await self.parts.nodes.call(end.node, ImpexpCleanup(transfer=end.name(each)))
                except RpcError as error:
                    self.parts.warn(f"node {end.node.name} keeps notes of transfer {end.name(each)}: {error}")
