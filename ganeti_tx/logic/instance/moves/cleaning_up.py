"""After a migration that was cut off: find out where the instance runs, and make everything follow from that."""

from collections.abc import Mapping, Sequence

from attrs import define, field

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.disks.on_nodes import remove_disks
from ganeti_tx.logic.instance.moves import disks, mirror_roles
from ganeti_tx.logic.instance.moves.away import way_away
from ganeti_tx.logic.instance.moves.failing_over import RENAME
from ganeti_tx.logic.instance.moves.kept_elsewhere import left_behind
from ganeti_tx.logic.instance.moves.kept_state import forget
from ganeti_tx.logic.instance.moves.move import Move, carried, is_local, placed, places
from ganeti_tx.logic.instance.moves.transfer import Transfer
from ganeti_tx.logic.instance.presence import pass_on
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.migration import Side
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.migration import (
    InstanceFinalizeMigrationDst,
    InstanceFinalizeMigrationSrc,
    InstanceMigrationSide,
)
from ganeti_tx.rpc.interfaces import NodeCallError, RpcError

END, DISKS = "end what is left of the migration", "give the disks to the node where the instance runs"
ARRIVE = "have the instance be reached where it runs"
RUNS = (Side.RUNS, Side.SENDING, Side.FETCHING)


@define
class CleaningUp:
    """First `look`, then the plan, then `run`, which may be done again and again.

    @ivar named: a node where disks may be that the instance no longer has, or did not come to have.
    @ivar elsewhere: nodes to which it may have gone, too, of which nothing is locked: something of it there has nothing done.
    """

    parts: Parts
    view: InstanceView
    candidates: Sequence[Node]
    elsewhere: Sequence[Node] = ()
    named: Node | None = None
    found: Mapping[str, Side] = field(factory=dict, init=False)
    #: Nodes that answer, but whose hypervisor does not tell what it has, and what they say of that.
    silent: Mapping[str, NodeCallError] = field(factory=dict, init=False)
    home: Node = field(init=False)
    #: Nodes that keep what its home has, too, of its firmware and TPM.
    left: Sequence[Node] = field(default=(), init=False)

    async def look(self) -> None:
        """@raise OpPrereqError: a node does not tell; it runs nowhere, on two nodes, or on one elsewhere."""
        name = self.view.instance.name
        self.parts.info(f"Migrating instance {name}")
        self.parts.info(
            "* checking where the instance actually runs (if this hangs, the hypervisor might be in a bad state)"
        )
        try:
            await self._ask()
        except RpcError as error:
            raise OpPrereqError(str(error), ECode.ENVIRON) from None
        self.home = self._home()
        if self._runs:
            self.left = await left_behind(self.parts, self.view, self.home, self._reached)

    async def _ask(self) -> None:
        """@raise RpcError: a node does not tell. @raise OpPrereqError: something of it is elsewhere."""
        name = self.view.instance.name
        for node in self.candidates:
            try:
                side = await self._side(node)
            except NodeCallError as error:
                self.silent = {**self.silent, node.uuid: error}
                continue
            if side is not None:
                self.found = {**self.found, node.uuid: side}
        if self.silent and len(self._with(Side.RUNS)) != 1:
            raise next(iter(self.silent.values()))  # it may have passed over to one that is silent
        for node in self.elsewhere:
            if await self._side(node) is not None:
                raise OpPrereqError(
                    f"Something of instance {name} is on node {node.name}, which is in another group than its primary node"
                    f" {self.view.primary.name}; 'gnt-instance migrate --cleanup -n {node.name} {name}' sees to these two",
                    ECode.STATE,
                )

    async def _side(self, node: Node) -> Side | None:
        """What a node has of it. @raise RpcError: it does not tell."""
        instance = self.view.instance
        if node.offline:
            self.parts.warn(f"node {node.name} is offline and cannot be asked; make sure that it is down")
            return None
        return await self.parts.nodes.call(node, InstanceMigrationSide.of(instance))

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
            raise OpPrereqError(f"Instance {name} does not seem to be running at all; {self._instead()}", ECode.STATE)
        return self.view.primary

    def _instead(self) -> str:
        """What repairs it when it runs nowhere."""
        name, primary = self.view.instance.name, self.view.primary
        if primary.offline:
            return f"its primary node {primary.name} is offline: {way_away(self.view.disk_template, name)}"
        force = "--force " if self.view.instance.admin_state is AdminState.UP else ""
        return (
            f"in this case it's easier to repair by running 'gnt-instance deactivate-disks {force}{name}' to ensure disk"
            " shutdown, and then restarting it"
        )

    def _with(self, *sides: Side) -> list[Node]:
        return [node for node in self.candidates if self.found.get(node.uuid) in sides]

    @property
    def others(self) -> list[Node]:
        """Where something of it is, or may be, but not the instance."""
        known = {uuid: node for uuid, node in self.view.nodes.items() if not node.offline}
        known |= {node.uuid: node for node in self.candidates if node.uuid in {**self.found, **self.silent}}
        if is_local(self.view) and self.named is not None:
            known[self.named.uuid] = self.named
        return [node for node in known.values() if node.uuid != self.home.uuid]

    @property
    def _reached(self) -> list[Node]:
        """Wherever it may have been, and is not."""
        others = self.others
        known = {node.uuid for node in (self.home, *others)}
        return [*others, *(node for node in self.candidates if node.uuid not in known)]

    @property
    def _ends(self) -> bool:
        return bool(self.silent) or any(side is not Side.RUNS for side in self.found.values())

    @property
    def _runs(self) -> bool:
        """Whether it does, or will when what is left has ended."""
        return self.found.get(self.home.uuid) in RUNS or bool(self._with(Side.INCOMING) and self._with(Side.SENT))

    def plan(self) -> Plan:
        """What is left to do."""
        instance = (f"instance {self.view.instance.name}",)
        nodes, left = (self.home.name, *(node.name for node in self.others)), [node.name for node in self.left]
        return [
            *([PlannedStep(END, nodes, instance)] if self._ends else ()),
            *([PlannedStep(RENAME, (), instance)] if self.home.uuid != self.view.primary.uuid else ()),
            *([PlannedStep(DISKS, tuple(dict.fromkeys((*nodes, *left))), instance)] if self._runs else ()),
            *([PlannedStep(ARRIVE, (self.home.name,), instance)] if self._runs else ()),
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
                if is_local(self.view):
                    await self.parts.config.place_instance(*places(await self._on(home)))
                else:
                    await self.parts.config.move_instance(self.view.instance.uuid, home.uuid)
        async with self.parts.step(DISKS):
            await self._disks()
            for node in self.left:
                await forget(self.parts, self.view, node)
        async with self.parts.step(ARRIVE):
            await self._arrive()
        self.parts.info("* done")

    async def _end(self) -> None:
        """First what has never run, then what stands still, which may go on where nothing else is left."""
        await self._fetch_rest()
        spec = self.view.spec()
        was_sent = self._with(Side.SENT)
        try:
            silent = [node for node in self.candidates if node.uuid in self.silent]
            for node in (*self._with(Side.INCOMING), *silent):
                refuse = InstanceFinalizeMigrationDst(
                    instance=spec, info={}, success=False, goes_on_elsewhere=node in silent
                )
                await self.parts.nodes.call(node, refuse)
            half = self._with(Side.FETCHED)
            for node in (*was_sent, *self._with(Side.SENDING), *half):
                stays = node.uuid == self.home.uuid and self._runs
                call = InstanceFinalizeMigrationSrc(
                    instance=spec, success=not stays, live=True, target_is_gone=node in (*was_sent, *half)
                )
                await self.parts.nodes.call(node, call)
        except RpcError as error:
            raise OpExecError(f"could not end the migration of instance {self.view.instance.name}: {error}") from None

    async def _arrive(self) -> None:
        """A migration that was cut off may have left it without its interfaces, and its metadata untold."""
        here = await self._on(self.home)
        call = InstanceFinalizeMigrationDst(instance=here.spec(), info={}, success=True)
        try:
            said = await self.parts.nodes.call(self.home, call)
        except RpcError as error:
            raise OpExecError(
                f"instance {self.view.instance.name} runs on node {self.home.name}, but may not be reached there: {error};"
                " when that is mended, clean up again"
            ) from None
        pass_on(said, here, self.parts.warn)

    async def _remove_copies(self, node: Node) -> None:
        """The instance runs with its own disks elsewhere: these are no longer, or not yet, as its are."""
        there = await self._on(node)
        await disks.shut_down(self.parts.nodes, there, node)
        await remove_disks(self.parts.nodes, there, self.parts.warn)

    async def _fetch_rest(self) -> None:
        """Where it runs without all of its memory: wait until it has it. @raise OpExecError: it is lost, or cannot be reached."""
        name, home = self.view.instance.name, self.home
        if self.found.get(home.uuid) is not Side.FETCHING:
            return
        has_it = self._with(Side.FETCHED)
        if not has_it:
            raise OpExecError(
                f"instance {name} runs on node {home.name}, but some of its memory was on another node, which does not have it"
                f" any more; stop it with 'gnt-instance shutdown --timeout=0 {name}', and start it"
            )
        self.parts.info(f"* fetching the rest of its memory from {has_it[0].name} to {home.name}")
        before, after = [await self._on(node) for node in (has_it[0], home)]
        await Transfer(self.parts, Move(before, after), self.view.cluster.cluster_name, True).ended()

    async def _on(self, node: Node) -> InstanceView:
        view = placed(self.view, node, await self.parts.config.group(node.group))
        return carried(view) if is_local(view) else view

    async def _disks(self) -> None:
        here = await self._on(self.home)
        try:
            for node in self.others:
                if is_local(self.view):
                    await self._remove_copies(node)
                else:
                    await mirror_roles.one_primary(self.parts, here, node, self.home)
            if not self.others:
                self.parts.info(f"* opening instance disks on node {self.home.name} in exclusive mode")
                await mirror_roles.open_disks(self.parts, here, self.home, exclusive=True)
        except RpcError as error:
            raise OpExecError(
                f"instance {self.view.instance.name} runs on node {self.home.name}, but its disks are not in order: {error};"
                f" 'gnt-instance activate-disks {self.view.instance.name}' makes them ready again"
            ) from None
