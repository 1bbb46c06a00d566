"""Changing a node's role and settings."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.node.demotion import take_copies, taking_copies
from ganeti_tx.logic.node.own_switch import PARAMETERS, OwnSwitch, wanted_switch
from ganeti_tx.logic.node.pool import Promotions, certificate_digest, promotions_among, spare_nodes, tell
from ganeti_tx.logic.node.role_rules import (
    check_asked,
    check_back_online,
    check_instances,
    check_power,
    check_transition,
)
from ganeti_tx.logic.node.roles import FLAGS, Role, asked_role, lacking, may_be_promoted, role_of, with_role
from ganeti_tx.logic.node.secondary_address import check_secondary
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_all, on_nodes
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpNodeSetParams
from ganeti_tx.model.params.kinds import updated
from ganeti_tx.model.params.node import check_ndparams, fill_ndparams, oob_program
from ganeti_tx.model.params.state import changed_disk_state, changed_hv_state
from ganeti_tx.rpc.calls.node import Version
from ganeti_tx.rpc.interfaces import RpcError

#: One change as the opcode's result has it.
Changed = tuple[str, object]


CHANGE = "change the node"
#: Seconds for a node that goes offline to tell that it is there.
ANSWERS_WITHIN = 5.0


class LUNodeSetParams(LogicalUnit[OpNodeSetParams]):
    """Change one node. When it leaves the pool of master candidates, others are promoted in the same change."""

    hook = Hook("node-modify", HookObject.NODE)

    _node: Node
    _after: Node
    _cluster: Cluster
    _others: list[Node]
    _promotions: Promotions
    _silent: frozenset[str] = frozenset()
    _wanted: int = 0
    _chosen: Sequence[Node] = ()
    _replacement: Promotions = Promotions()
    _switch: OwnSwitch | None = None

    async def expand_names(self) -> None:
        """Which node."""
        self._node = await self.config.node(self.op.node_uuid or self.op.node_name)

    @property
    def _may_leave(self) -> bool:
        """Whether the node may leave the pool of master candidates."""
        return asked_role(self._node, self.op) is not Role.CANDIDATE and self._node.master_candidate

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The node, and those that are to take its place, who are asked when their locks are held; all when its address is
        compared with theirs.

        Whoever leaves the pool waits for no work on further nodes, and keeps none waiting: it may be dead.
        """
        if level is not Level.NODE:
            return ()
        await self._choose()
        if self.op.secondary_ip is not None:
            return (on_all(level, Mode.EXCLUSIVE),)
        return on_nodes([self._node.uuid, *(node.uuid for node in self._chosen)], Mode.EXCLUSIVE)

    async def outdated(self) -> str:
        """Others are to be promoted now, or are to be asked as some do not answer."""
        locked = {node.uuid for node in self._chosen}
        await self._choose()
        if self._locked_are_all(locked):
            promotions = await promotions_among(self, self._chosen)
            self._silent |= {node.uuid for node in self._chosen}.difference(promotions.uuids)
            self._replacement = promotions.first(self._wanted)
            if len(self._replacement.nodes) == self._wanted:
                return ""
            await self._choose()
            if self._locked_are_all(locked):
                return ""
        return (
            f"while the locks for node {self._node.name} and who takes its place were waited for, the nodes to be promoted"
            f" became {', '.join(node.name for node in self._chosen)}"
        )

    def _locked_are_all(self, locked: set[str]) -> bool:
        """Whether the locks are held of all that are chosen now."""
        return self.op.secondary_ip is not None or locked.issuperset(node.uuid for node in self._chosen)

    async def _choose(self) -> None:
        """Read the nodes, and find those that may take its place, without asking any.

        For each that was silent there is one more, so that many dead nodes are found out in few rounds.
        @raise OpPrereqError: the node may not be changed so.
        """
        self._node = await self.config.node(self._node.uuid)
        self._cluster = await self.config.cluster()
        self._others = [node for node in await self.config.nodes() if node.uuid != self._node.uuid]
        check_asked(self.op)
        check_transition(self._node, self.op, asked_role(self._node, self.op), self._cluster.master_node)
        self._wanted, self._chosen = 0, ()
        if self.op.auto_promote and self._may_leave:
            self._wanted = lacking(self._others, self._cluster.candidate_pool_size)
        if self._wanted:
            spare = [node for node in spare_nodes(self._others) if node.uuid not in self._silent]
            everybody = self.op.secondary_ip is not None  # their locks are held anyway
            self._chosen = spare if everybody else spare[: self._wanted + len(self._silent)]

    async def check(self) -> None:
        """The change is possible, and the pool stays full: all by what was read when `outdated` was asked for."""
        op, node = self.op, self._node
        role = asked_role(node, op)
        check_power(node, op, await self._oob_program())
        await check_instances(self, node, op, role)
        self._after = with_role(self._changed(), role)
        if self._returns():
            self._after = with_role(self._after, Role.CANDIDATE)
        self._tell_roles()
        await check_back_online(self, node, role)
        if op.secondary_ip is not None:
            await check_secondary(self, node, self._others, self._cluster)
        await self._plan_promotions()
        self._switch = await self._asked_switch()

    async def _asked_switch(self) -> OwnSwitch | None:
        """The switch that it is to have now; one that is there already is left as it is."""
        if not PARAMETERS & (self.op.ndparams or {}).keys() or self._after.offline:
            return None
        switch = wanted_switch(self._cluster, await self.config.group(self._node.group), self._after.ndparams)
        if switch is not None:
            await switch.check(self.nodes, self._after)
        return switch

    def _tell_roles(self) -> None:
        """What of the roles is not as it was asked for."""
        for flag in FLAGS:
            if getattr(self.op, flag) is False and not getattr(self._node, flag):
                self.info(f"- INFO: Ignoring request to unset flag {flag}, already unset")
        if self.op.master_capable is False and self._node.master_candidate:
            self.info("- INFO: Demoting from master candidate")
        if self._after.master_candidate and not (self._node.master_candidate or self.op.master_candidate):
            self.info("- INFO: Auto-promoting node to master candidate")

    async def hook_values(self) -> Mapping[str, object]:
        """The node, and of its flags those that were asked for or will be set; None stands for the rest.

        Of a flag that is lost because another one is set nothing is told, as by Ganeti.
        """
        asked = {
            flag: getattr(self._after, flag)
            for flag in ("master_candidate", "offline", "drained", "master_capable", "vm_capable")
            if getattr(self.op, flag) is not None or (getattr(self._after, flag) and not getattr(self._node, flag))
        }
        told = ("MASTER_CANDIDATE", "OFFLINE", "DRAINED", "MASTER_CAPABLE", "VM_CAPABLE")
        return {"OP_TARGET": self._node.name, **{name: asked.get(name.lower()) for name in told}}

    async def object_nodes(self) -> Sequence[Node]:
        """The node as it is; one that goes offline is left out afterwards, and before when it does not answer at once."""
        node = await self.config.node(self._node.uuid)
        if self._after.offline and not node.offline and not await self._answers(node):
            return []
        return [node]

    async def _answers(self, node: Node) -> bool:
        """Whether there is somebody to run its hooks: what may be gone for ever is not waited for as long as they may take."""
        try:
            await self.nodes.call(node, Version(), ANSWERS_WITHIN)
        except RpcError as error:
            self.warn(f"Communication failure to node {node.name}: {error}")
            return False
        return True

    async def _oob_program(self) -> str:
        group = await self.config.group(self._node.group)
        changed = replace(self._node, ndparams=updated(self._node.ndparams, self._given_ndparams()))
        return oob_program(fill_ndparams(self._cluster, group, changed))

    def _given_ndparams(self) -> Mapping[str, object]:
        return check_ndparams(self.op.ndparams or {}, for_node=True)

    def _changed(self) -> Node:
        """The node with all settings but its role."""
        op, node = self.op, self._node
        given = {
            name: value
            for name in ("master_capable", "vm_capable", "secondary_ip", "powered")
            if (value := getattr(op, name)) is not None
        }
        return replace(
            node,
            **given,
            ndparams=updated(node.ndparams, self._given_ndparams()),
            hv_state_static=changed_hv_state(node.hv_state_static, op.hv_state),
            disk_state_static=changed_disk_state(node.disk_state_static, op.disk_state),
        )

    def _returns(self) -> bool:
        """Whether the node comes back to where it can be a candidate, and the pool has room for it."""
        back = self.op.master_capable or role_of(self._node) in (Role.OFFLINE, Role.DRAINED)
        size = self._cluster.candidate_pool_size
        room = size > sum(node.master_candidate for node in self._others)
        return bool(back) and may_be_promoted(self._after) and self.op.master_candidate is None and room

    async def _plan_promotions(self) -> None:
        """@raise OpPrereqError: the pool would be too small and nobody may be promoted, or the node does not answer."""
        before, after = self._node, self._after
        self._promotions = Promotions()
        if after.master_candidate and not before.master_candidate:
            await self._promote_this()
        elif before.master_candidate and not after.master_candidate:
            await self._replace_this()

    async def _replace_this(self) -> None:
        size = self._cluster.candidate_pool_size
        wanted = lacking(self._others, size)
        if wanted and not self.op.auto_promote:
            raise OpPrereqError(
                f"without node {self._node.name} there are fewer master candidates than the {size} wanted; promote "
                "another node first, or give --auto-promote (auto_promote) to have one promoted",
                ECode.STATE,
            )
        self._promotions = self._replacement
        if len(self._promotions.nodes) < wanted:
            self.warn(f"there will be fewer master candidates than the {size} wanted")

    async def _promote_this(self) -> None:
        try:
            digest = await certificate_digest(self.nodes, self._after)
        except RpcError as error:
            raise OpPrereqError(
                f"cannot make node {self._node.name} a master candidate: {error}", ECode.ENVIRON
            ) from None
        self._promotions = Promotions([], {self._after.uuid: digest})

    @property
    def _counted_upon(self) -> int:
        """Master candidates that there must be after the change: when the node leaves them, those that `check` found.

        Where nobody could take its place there may be fewer: of two dead nodes that are marked at a time each is.
        """
        leaves = self._node.master_candidate and not self._after.master_candidate
        if not leaves or not any(map(may_be_promoted, self._others)):
            return 0
        left = sum(node.master_candidate for node in self._others) + len(self._promotions.nodes)
        return min(left, self._cluster.candidate_pool_size)

    @property
    def _drops_copies(self) -> bool:
        """Whether it may have copies that it must not keep; an offline node is left alone until it is back."""
        had = self._node.master_candidate or self._node.offline
        return had and not self._after.master_candidate and not self._after.offline

    def plan(self) -> Plan:
        """The change of all nodes at once; then what the node must not keep."""
        changed = tuple(f"node {node.name}" for node in (self._after, *self._promotions.nodes))
        copies = [taking_copies(self._after.name)] if self._drops_copies else []
        switch = [] if self._switch is None else self._switch.steps(self._after.name)
        return [PlannedStep(CHANGE, (), changed), *copies, *switch]

    async def execute(self) -> list[Changed]:
        """Change it; tell what is new."""
        async with self.step(CHANGE):
            changed = [self._after, *self._promotions.nodes]
            await self.config.change_nodes(changed, self._promotions.digests, self._counted_upon)
        tell(self, self._promotions)
        await self.config.when_distributed()
        if self._drops_copies:
            await take_copies(self, self._after)
        if self._switch is not None:
            again = f"gnt-node modify --node-parameters ovs=yes {self._after.name}"
            await self._switch.make(self, self._after, "changed", again)
        return differences(self._node, self._after)


def differences(before: Node, after: Node) -> list[Changed]:
    """What is new, a pair of name and value each; flags are told as words."""
    plain = [
        (name, str(getattr(after, name)))
        for name in ("master_capable", "vm_capable", *FLAGS, "powered", "secondary_ip")
        if getattr(before, name) != getattr(after, name)
    ]
    tables = {"ndparams": "ndparams", "hv_state": "hv_state_static", "disk_state": "disk_state_static"}
    return [
        *plain,
        *(
            (f"{name}/{key}", new.get(key, "default"))
            for name, table in tables.items()
            for old, new in [(getattr(before, table), getattr(after, table))]
            for key in sorted({*old, *new})
            if old.get(key) != new.get(key)
        ),
    ]
