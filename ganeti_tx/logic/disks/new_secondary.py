"""Another second node for mirrors: they are made there, the primary node turns to it, and the old one forgets them."""

from attrs import define

from ganeti_tx.logic.disks.new_end import assemble, clear, create, place, placing, tell
from ganeti_tx.logic.disks.replacing import Replacing
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import check_online
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.disk import BlockdevShutdown
from ganeti_tx.rpc.calls.mirror import DrbdAttachNet, DrbdDisconnectNet
from ganeti_tx.rpc.interfaces import RpcError

CLEAR, CREATE = "remove what is left of its disks on the new node", "create the disks on the new node"
SWITCH, RECORD = "connect the primary node to the new one", "record the new secondary node"
FORGET = "take the disks on the old node down"


@define
class NewSecondary:
    """All disks go to `node`; each keeps its secret, and gets a port and a minor there.

    @ivar view: the instance as it will be (`turned`).
    """

    common: Replacing
    node: Node
    view: InstanceView

    @property
    def _old(self) -> Node:
        return self.common.target.secondaries[0]

    @property
    def _primary(self) -> Node:
        return self.common.target.primary

    async def check(self) -> None:
        """@raise OpPrereqError: the primary node does not have good data."""
        check_online(self._primary, f"replace disks of instance {self.common.name}")
        await self.common.check_good(self._primary)

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
            *self.common.last_steps(self._old, self.view),
        ]

    async def run(self) -> None:
        """Until it is recorded everything is taken back; from then on the new node has the disks."""
        common, parts, step = self.common, self.common.parts, self.common.parts.step
        await common.make_ready(self._primary)
        async with step(CLEAR):
            await clear(parts, self.view, self.node)
        async with step(CREATE, *(common.removal(self.node, spec) for spec in self.view.disk_specs(self.node))):
            await create(parts, self.view, self.node)
            await assemble(parts, self.view, self.node)
        await self._switch()
        await self._record()
        remains = common.target.disk_specs(self._old)
        await common.context.steps.settle(*(common.removal(self._old, spec) for spec in remains))
        async with step(FORGET):
            for spec in remains:
                await self._take_down(spec)
        await common.finish(self.view, self._old, remains)

    async def _switch(self) -> None:
        """The primary node goes on alone, then with the new node. Taking that back needs the secret, which is not kept."""
        old, new = self.common.target.disk_specs(self._primary), self.view.disk_specs(self._primary)
        to_old = DrbdAttachNet(disks=old, multimaster=False)
        name = self.common.name
        undos = (
            on_node(f"connect the disks of instance {name} to {self._old.name} again", self._primary, to_old),
            on_node(f"disconnect the disks of instance {name}", self._primary, DrbdDisconnectNet(disks=new)),
        )
        async with self.common.parts.step(SWITCH, *undos):
            await tell(self.common.parts, self.view, self._primary, DrbdDisconnectNet(disks=old))
            await tell(self.common.parts, self.view, self._primary, DrbdAttachNet(disks=new, multimaster=False))

    async def _record(self) -> None:
        common = self.common
        back = placing(f"put the disks of instance {common.name} on node {self._old.name} again", common.target)
        async with common.parts.step(RECORD, back):
            await place(common.parts.config, self.view)

    async def _take_down(self, spec: DiskSpec) -> None:
        call = BlockdevShutdown(disk=without_secret(spec), owner=self.common.name)
        try:
            await self.common.parts.nodes.call(self._old, call)
        except RpcError as error:
            self.common.parts.warn(
                f"Failed to shutdown disk/{spec.index} on old node {self._old.name}; please cleanup this device manually"
                f" as soon as possible: {error}"
            )
