"""Copying the disks of an instance that is stopped to another node, all at once, over connections between the two nodes."""

from collections.abc import Sequence

from attrs import define, field

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevShutdown
from ganeti_tx.rpc.calls.transfer import ExportStart, ImpexpCleanup, ImpexpStatus, ImportStart, TransferProgress
from ganeti_tx.rpc.interfaces import RpcError

#: Seconds between two looks at first and at last, and those within which an end must say where it listens, and be found.
FIRST_LOOK, LONGEST_LOOK, TO_LISTEN, TO_CONNECT = 0.2, 5.0, 30.0, 60.0
#: Seconds between two reports.
REPORT = 60.0
#: Characters of what the programs of an end have said that are told.
TOLD = 500


@define
class Carried:
    """One disk on its way. @ivar told: what the operator has been told of it."""

    index: int
    name: str
    magic: str = field(repr=False)
    told: set[str] = field(factory=set)
    sending: TransferProgress | None = None
    receiving: TransferProgress | None = None

    @property
    def is_done(self) -> bool:
        """Whether both ends say so."""
        return all(end is not None and end.ended for end in (self.sending, self.receiving))


@define
class Carrying:
    """`begun` says what is to be taken back, then `carry`, then `forget`."""

    parts: Parts
    source: InstanceView
    target: InstanceView
    compress: str
    _disks: Sequence[Carried] = field(factory=list)
    _reported: float = 0.0

    async def prepare(self) -> Sequence[Undo]:
        """Give the ends their names. What stops them, and takes the disks down again."""
        names = [await self.parts.config.generate_uuid() for _ in self.source.disks]
        self._disks = [
            Carried(index, f"disk{index}-{name}", await self.parts.config.generate_secret())
            for index, name in enumerate(names)
        ]
        return [undo for node in self._nodes for each in self._disks for undo in self._undos(each, node)]

    @property
    def _nodes(self) -> tuple[Node, Node]:
        return self.source.primary, self.target.primary

    def _undos(self, each: Carried, node: Node) -> Sequence[Undo]:
        owner = self.source.instance.name
        spec = without_secret(self._spec(each.index, node))
        down = BlockdevShutdown(disk=spec, owner=owner)
        stop = ImpexpCleanup(transfer=each.name)
        return [
            on_node(f"shut down disk/{each.index} of instance {owner}", node, down),
            on_node(f"stop copying disk/{each.index} of instance {owner}", node, stop),
        ]

    def _spec(self, index: int, node: Node) -> DiskSpec:
        view = self.source if node is self.source.primary else self.target
        return view.disk_specs(node)[index]

    async def carry(self) -> None:
        """Copy all. @raise OpExecError: one could not be; what has come is not used."""
        source, target = self._nodes
        for each in self._disks:
            self.parts.info(f"Exporting disk/{each.index} from {source.name} to {target.name}")
            await self._listen(each, source, target)
        for each in self._disks:
            port = await self._port(each, target)
            self._tell(each, "is now listening, starting export")
            await self._send(each, source, target, port)
        await self._until_done(source, target)
        await self._forget()

    async def _listen(self, each: Carried, source: Node, target: Node) -> None:
        spec = await self._ready(each, target)
        call = ImportStart(
            transfer=each.name,
            disk=spec,
            magic=each.magic,
            peer=source.name,
            compress=self.compress,
            connect_limit=TO_CONNECT,
            address=target.secondary_ip,
        )
        await self._call(each, target, call)

    async def _send(self, each: Carried, source: Node, target: Node, port: int) -> None:
        spec = await self._ready(each, source)
        call = ExportStart(
            transfer=each.name,
            disk=spec,
            magic=each.magic,
            peer=target.name,
            compress=self.compress,
            connect_limit=TO_CONNECT,
            address=target.secondary_ip,
            port=port,
        )
        await self._call(each, source, call)

    async def _ready(self, each: Carried, node: Node) -> DiskSpec:
        instance, spec = self.source.instance, self._spec(each.index, node)
        call = BlockdevAssemble(disk=spec, owner=instance.name, hypervisor=instance.hypervisor.value)
        await self._call(each, node, call)
        return spec

    async def _call(self, each: Carried, node: Node, call: BlockdevAssemble | ImportStart | ExportStart) -> None:
        try:
            await self.parts.nodes.call(node, call)
        except RpcError as error:
            raise self._failed(each, str(error)) from None

    def _failed(self, each: Carried, why: str) -> OpExecError:
        return OpExecError(f"could not copy disk/{each.index} of instance {self.source.instance.name}: {why}")

    async def _port(self, each: Carried, target: Node) -> int:
        waited = 0.0
        while waited < TO_LISTEN:
            [status] = await self._look([each], target)
            if status is not None and status.port is not None:
                return status.port
            self._refuse(each, target, status)
            await self.parts.pause(FIRST_LOOK)
            waited += FIRST_LOOK
        raise self._failed(each, f"node {target.name} does not listen")

    async def _look(self, disks: Sequence[Carried], node: Node) -> Sequence[TransferProgress | None]:
        try:
            return await self.parts.nodes.call(node, ImpexpStatus(transfers=[each.name for each in disks]))
        except RpcError as error:
            raise self._failed(disks[0], str(error)) from None

    def _refuse(self, each: Carried, node: Node, status: TransferProgress | None) -> None:
        """@raise OpExecError: an end has failed."""
        if status is not None and status.error:
            said = "; ".join(status.said)[-TOLD:]
            raise self._failed(each, f"node {node.name}: {status.error}{f' ({said})' if said else ''}")

    async def _until_done(self, source: Node, target: Node) -> None:
        wait = FIRST_LOOK
        while not await self._look_at_all(source, target):
            await self.parts.pause(wait)
            self._reported += wait
            self._report()
            wait = min(LONGEST_LOOK, wait * 1.5)

    async def _look_at_all(self, source: Node, target: Node) -> bool:
        """Whether all is done."""
        for each, status in zip(self._disks, await self._look(self._disks, target), strict=True):
            each.receiving = self._seen(each, target, status, "receiving")
        for each, status in zip(self._disks, await self._look(self._disks, source), strict=True):
            each.sending = self._seen(each, source, status, "sending")
        return all(each.is_done for each in self._disks)

    def _seen(self, each: Carried, node: Node, status: TransferProgress | None, does: str) -> TransferProgress | None:
        """Tell what is new. @raise OpExecError: it has failed, or is not there any more."""
        if status is None:
            raise self._failed(each, f"node {node.name} knows nothing of it any more")
        self._refuse(each, node, status)
        if status.connected and not status.ended:
            self._tell(each, f"is {does} data on {node.name}")
        if status.ended:
            self._tell(each, f"finished {does} data")
        return status

    def _tell(self, each: Carried, what: str) -> None:
        if what not in each.told:
            each.told.add(what)
            self.parts.info(f"disk/{each.index} {what}")

    def _report(self) -> None:
        """How far each disk is, once a minute."""
        if self._reported < REPORT:
            return
        self._reported = 0.0
        for each in self._disks:
            if (end := each.sending) is not None and not end.ended and end.done is not None:
                left = f", {end.left:.0f} seconds left" if end.left is not None else ""
                percent = f" ({end.percent:.0f}%)" if end.percent is not None else ""
                self.parts.info(f"disk/{each.index} sent {end.done} MiB{percent}{left}")

    async def _forget(self) -> None:
        """What the nodes keep of it is of no use any more."""
        for node in self._nodes:
            for each in self._disks:
                try:
                    await self.parts.nodes.call(node, ImpexpCleanup(transfer=each.name))
                except RpcError as error:
                    self.parts.warn(f"node {node.name} keeps notes of transfer {each.name}: {error}")
