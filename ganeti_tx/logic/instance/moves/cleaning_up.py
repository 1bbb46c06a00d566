"""After a migration that was cut off: find out where the instance runs, and make everything follow from that."""

from collections.abc import Mapping, Sequence

from attrs import define, field

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.instance.moves import mirror_roles
from ganeti_tx.logic.instance.moves.failing_over import RENAME
from ganeti_tx.logic.instance.moves.move import placed
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import ask
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.migration import Side
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.migration import (
    InstanceFinalizeMigrationDst,
    InstanceFinalizeMigrationSrc,
    InstanceMigrationSide,
)
from ganeti_tx.rpc.interfaces import RpcError

END, DISKS = "end what is left of the migration", "give the disks to the node where the instance runs"
RUNS = (Side.RUNS, Side.SENDING)


@define
class CleaningUp:
    """First `look`, then the plan, then `run`, which may be done again and again.

    @ivar elsewhere: nodes to which it may have gone, too, of which nothing is locked: something of it there has nothing done.
    """

    parts: Parts
    view: InstanceView
    candidates: Sequence[Node]
    elsewhere: Sequence[Node] = ()
    found: Mapping[str, Side] = field(factory=dict, init=False)
    home: Node = field(init=False)

    async def look(self) -> None:
        """@raise OpPrereqError: a node does not tell; it runs nowhere, on two nodes, or on one elsewhere."""
        name = self.view.instance.name
        self.parts.info(f"Migrating instance {name}")
        self.parts.info(
            "* checking where the instance actually runs (if this hangs, the hypervisor might be in a bad state)"
        )
        for node in self.candidates:
            if (side := await self._side(node)) is not None:
                self.found = {**self.found, node.uuid: side}
        for node in self.elsewhere:
            if await self._side(node) is not None:
                raise OpPrereqError(
                    f"Something of instance {name} is on node {node.name}, which is in another group than its primary node"
                    f" {self.view.primary.name}; 'gnt-instance migrate --cleanup -n {node.name} {name}' sees to these two",
                    ECode.STATE,
                )
        self.home = self._home()

    async def _side(self, node: Node) -> Side | None:
        """What a node has of it. @raise OpPrereqError: it does not tell."""
        instance = self.view.instance
        if node.offline:
            self.parts.warn(f"node {node.name} is offline and cannot be asked; make sure that it is down")
            return None
        call = InstanceMigrationSide(instance_name=instance.name, hypervisor=instance.hypervisor.value)
        return await ask(self.parts.nodes, node, call, ECode.ENVIRON)

    def _home(self) -> Node:
        name = self.view.instance.name
        runs = self._with(*RUNS)
        if len(runs) > 1:
            where = ", ".join(node.name for node in runs)
            raise OpPrereqError(
                f"Instance {name} seems to be running on two nodes ({where}), or the hypervisor is confused; you will"
                " have to ensure manually that it runs only on one and restart this operation",
                ECode.STATE,
            )
        if runs:
            return runs[0]
        if self._with(Side.SENT) and self._with(Side.INCOMING):
            return self._with(Side.SENT)[0]
        if not self.found:
            raise OpPrereqError(
                f"Instance {name} does not seem to be running at all; in this case it's easier to repair by running"
                " 'gnt-instance deactivate-disks' to ensure disk shutdown, and then restarting it",
                ECode.STATE,
            )
        return self.view.primary

    def _with(self, *sides: Side) -> list[Node]:
        return [node for node in self.candidates if self.found.get(node.uuid) in sides]

    @property
    def others(self) -> list[Node]:
        """Where something of it is, or may be, but not the instance."""
        known = {uuid: node for uuid, node in self.view.nodes.items() if not node.offline}
        known |= {node.uuid: node for node in self.candidates if node.uuid in self.found}
        return [node for node in known.values() if node.uuid != self.home.uuid]

    @property
    def _ends(self) -> bool:
        return any(side is not Side.RUNS for side in self.found.values())

    @property
    def _runs(self) -> bool:
        """Whether it does, or will when what is left has ended."""
        return self.found.get(self.home.uuid) in RUNS or bool(self._with(Side.INCOMING) and self._with(Side.SENT))

    def plan(self) -> Plan:
        """What is left to do."""
        nodes, instance = (
            (self.home.name, *(node.name for node in self.others)),
            (f"instance {self.view.instance.name}",),
        )
        return [
            *([PlannedStep(END, nodes, instance)] if self._ends else ()),
            *([PlannedStep(RENAME, (), instance)] if self.home.uuid != self.view.primary.uuid else ()),
            *([PlannedStep(DISKS, nodes, instance)] if self._runs else ()),
        ]

    async def run(self) -> None:
        """Do it. @raise OpExecError: something is still left."""
        name, home = self.view.instance.name, self.home
        if self._ends:
            async with self.parts.step(END):
                await self._end()
        if not self._runs:
            raise OpExecError(f"Instance {name} does not run any more; what was left of it is gone, start it again")
        self.parts.info(f"* instance running on: {home.name}")
        if home.uuid == self.view.primary.uuid:
            self.parts.info(f"* instance confirmed to be running on its primary node ({home.name})")
        else:
            self.parts.info(f"* instance running on secondary node ({home.name}), updating config")
            async with self.parts.step(RENAME):
                await self.parts.config.move_instance(self.view.instance.uuid, home.uuid)
        async with self.parts.step(DISKS):
            await self._disks()
        self.parts.info("* done")

    async def _end(self) -> None:
        """First what has never run, then what stands still, which may go on where nothing else is left."""
        spec = self.view.spec()
        was_sent = self._with(Side.SENT)
        try:
            for node in self._with(Side.INCOMING):
                await self.parts.nodes.call(node, InstanceFinalizeMigrationDst(instance=spec, info={}, success=False))
            for node in (*was_sent, *self._with(Side.SENDING)):
                stays = node.uuid == self.home.uuid and self._runs
                call = InstanceFinalizeMigrationSrc(
                    instance=spec, success=not stays, live=True, target_is_gone=node in was_sent
                )
                await self.parts.nodes.call(node, call)
        except RpcError as error:
            raise OpExecError(f"could not end the migration of instance {self.view.instance.name}: {error}") from None

    async def _disks(self) -> None:
        here = placed(self.view, self.home, await self.parts.config.group(self.home.group))
        try:
            for node in self.others:
                await mirror_roles.one_primary(self.parts, here, node, self.home)
            if not self.others:
                self.parts.info(f"* opening instance disks on node {self.home.name} in exclusive mode")
                await mirror_roles.open_disks(self.parts, here, self.home, exclusive=True)
        except RpcError as error:
            raise OpExecError(
                f"instance {self.view.instance.name} runs on node {self.home.name}, but its disks are not in order: {error};"
                f" 'gnt-instance activate-disks {self.view.instance.name}' makes them ready again"
            ) from None
