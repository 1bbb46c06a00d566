"""Another second node for mirrors: they are made there, the primary node turns to it, and the old one forgets them."""

from attrs import define, field
from msgspec.structs import replace

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.replacing import Replacing
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import check_online
from ganeti_tx.logic.undos import in_config, on_node
from ganeti_tx.model.disk import DiskPlace, place_of, with_place
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevCreate, BlockdevRemove, BlockdevShutdown, BlockdevStates
from ganeti_tx.rpc.calls.mirror import DrbdAttachNet, DrbdDisconnectNet
from ganeti_tx.rpc.interfaces import R, RpcError

CLEAR, CREATE = "remove what is left of its disks on the new node", "create the disks on the new node"
SWITCH, RECORD = "connect the primary node to the new one", "record the new secondary node"
FORGET = "take the disks on the old node down"


@define
class NewSecondary:
    """All disks go to `node`; each keeps its port and its secret, and gets a minor there."""

    common: Replacing
    node: Node
    group: NodeGroup
    _new: InstanceView = field(init=False)
    _places: list[DiskPlace] = field(init=False)

    @property
    def _old(self) -> Node:
        return self.common.target.secondaries[0]

    @property
    def _primary(self) -> Node:
        return self.common.target.primary

    async def check(self) -> None:
        """The primary node has good data; the disks as they are to be have their minors.

        @raise OpPrereqError: why not.
        """
        target = self.common.target
        check_online(self._primary, f"replace disks of instance {self.common.name}")
        await self.common.check_good(self._primary)
        minors = await self.common.parts.config.allocate_minors([self.node.uuid] * len(target.disks))
        self._places = [self._moved(place_of(disk), minor) for disk, minor in zip(target.disks, minors, strict=True)]
        disks = [with_place(disk, place) for disk, place in zip(target.disks, self._places, strict=True)]
        nodes = {self._primary.uuid: self._primary, self.node.uuid: self.node}
        groups = {**target.groups, self.group.uuid: self.group}
        self._new = replace(target, disks=tuple(disks), nodes=nodes, groups=groups)

    def _moved(self, place: DiskPlace, minor: int) -> DiskPlace:
        ends = {self._old.uuid: (self.node.uuid, minor)}
        pairs = [ends.get(node, (node, old)) for node, old in zip(place.nodes, place.minors, strict=True)]
        return replace(place, nodes=tuple(node for node, _ in pairs), minors=tuple(each for _, each in pairs))

    def plan(self) -> Plan:
        """The disks on the new node, the primary's turn to it, the record; then the old node's end."""
        there, here, objects = (self.node.name,), (self._primary.name,), self.common.objects
        return [
            self.common.ready_step(self._primary),
            PlannedStep(CLEAR, there, objects),
            PlannedStep(CREATE, there, objects),
            PlannedStep(SWITCH, here, objects),
            PlannedStep(RECORD, (), objects),
            PlannedStep(FORGET, (self._old.name,), objects),
            *self.common.last_steps(self._old, self._new),
        ]

    async def run(self) -> None:
        """Until it is recorded everything is taken back; from then on the new node has the disks."""
        common, step = self.common, self.common.parts.step
        await common.make_ready(self._primary)
        async with step(CLEAR):
            await self._clear()
        specs = self._new.disk_specs(self.node)
        async with step(CREATE, *(common.removal(self.node, spec) for spec in specs)):
            for spec in specs:
                await self._create(spec)
        await self._switch()
        await self._record()
        await common.context.steps.settle()
        remains = common.target.disk_specs(self._old)
        async with step(FORGET):
            for spec in remains:
                await self._take_down(spec)
        await common.finish(self._new, self._old, remains)

    async def _clear(self) -> None:
        """Volumes there by the names of the instance's own are what is left of a time when it was there."""
        for spec in self._new.disk_specs(self.node):
            states = await self._tell(self.node, BlockdevStates(disks=spec.children))
            if any(state.status is not None for state in states):
                await self._tell(self.node, BlockdevRemove(disk=without_secret(spec), owner=self.common.name))

    async def _create(self, spec: DiskSpec) -> None:
        instance = self.common.target.instance
        await self._tell(self.node, BlockdevCreate(disk=spec, owner=instance.name))
        call = BlockdevAssemble(disk=spec, owner=instance.name, hypervisor=instance.hypervisor.value, on_primary=False)
        await self._tell(self.node, call)

    async def _switch(self) -> None:
        """The primary node goes on alone, then with the new node. Taking that back needs the secret, which is not kept."""
        old, new = self.common.target.disk_specs(self._primary), self._new.disk_specs(self._primary)
        to_old = DrbdAttachNet(disks=old, multimaster=False)
        name = self.common.name
        undos = (
            on_node(f"connect the disks of instance {name} to {self._old.name} again", self._primary, to_old),
            on_node(f"disconnect the disks of instance {name}", self._primary, DrbdDisconnectNet(disks=new)),
        )
        async with self.common.parts.step(SWITCH, *undos):
            await self._tell(self._primary, DrbdDisconnectNet(disks=old))
            await self._tell(self._primary, DrbdAttachNet(disks=new, multimaster=False))

    async def _record(self) -> None:
        instance = self.common.target.instance
        before = [place_of(disk) for disk in self.common.target.disks]
        back = in_config(
            f"put the disks of instance {instance.name} on node {self._old.name} again",
            IConfig.place_instance,
            instance.uuid,
            instance.primary_node,
            before,
        )
        async with self.common.parts.step(RECORD, back):
            await self.common.parts.config.place_instance(instance.uuid, instance.primary_node, self._places)

    async def _take_down(self, spec: DiskSpec) -> None:
        call = BlockdevShutdown(disk=without_secret(spec), owner=self.common.name)
        try:
            await self.common.parts.nodes.call(self._old, call)
        except RpcError as error:
            self.common.parts.warn(
                f"Failed to shutdown disk/{spec.index} on old node {self._old.name}; please cleanup this device manually"
                f" as soon as possible: {error}"
            )

    async def _tell(self, node: Node, call: NodeCall[R]) -> R:
        """@raise OpExecError: the node says no, or nothing."""
        try:
            return await self.common.parts.nodes.call(node, call)
        except RpcError as error:
            raise OpExecError(
                f"could not move the copies of {self.common.objects[0]} to node {self.node.name}: {error}"
            ) from None
