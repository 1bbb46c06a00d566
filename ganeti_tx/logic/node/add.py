"""Adding a node that has been set up for the cluster."""

from collections.abc import Mapping, Sequence

import msgspec

from ganeti_tx.errors import ECode, GanetiError, OpExecError, OpPrereqError, ResolverError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Lock, Mode
from ganeti_tx.logic.disks.exclusive import check_alike
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.node.demotion import take_copies, taking_copies
from ganeti_tx.logic.node.own_switch import OwnSwitch, wanted_switch
from ganeti_tx.logic.node.pool import FILL_POOL, certificate_digests, fill_pool
from ganeti_tx.logic.node.ssh_keys import learn_from
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import ask
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.base import Params
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.ip_family import canonical, is_address, missing_secondary, primary_fault, secondary_fault
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.model.node_certificates import server_key
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes import OpNodeAdd
from ganeti_tx.model.params.node import check_ndparams
from ganeti_tx.model.params.state import changed_disk_state, changed_hv_state
from ganeti_tx.model.versions import NODE_PROTOCOL_VERSION
from ganeti_tx.rpc.calls.node import NodeHasIpAddress, Version
from ganeti_tx.rpc.interfaces import RpcError

ADD, LEARN = "add the node to the configuration", "learn its SSH keys"


class LUNodeAdd(LogicalUnit[OpNodeAdd]):
    """Put a node into the configuration once its daemon answers; as a master candidate while the pool has room."""

    exclusive_cluster = True
    hook = Hook("node-add", HookObject.NODE, pre=HookNodes.OTHERS, post=HookNodes.OTHERS | HookNodes.OBJECT)
    _name: str
    _address: str
    _group: NodeGroup
    _hv_state: Params
    _disk_state: Params
    _ndparams: Params
    _switch: OwnSwitch | None = None
    _digest: str | None = None
    _server_digest: str | None = None

    async def expand_names(self) -> None:
        """The node's full name and address, and its group."""
        try:
            self._name, resolved = await self.context.resolve(self.op.node_name)
        except ResolverError as error:
            raise OpPrereqError(f"node {self.op.node_name!r}: {error}", ECode.RESOLVER)
        given = self.op.primary_ip or resolved
        self._address = canonical(given) if is_address(given) else given
        self._group = await self.config.group(self.op.group or (await self.config.cluster()).default_group)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The group that gets a member."""
        if level is Level.NODEGROUP:
            return (LockRequest(Lock(level, self._group.uuid), Mode.EXCLUSIVE),)
        return ()

    async def check(self) -> None:
        """It is new (or known, to be added again), its addresses are its own, and its daemon speaks our protocol."""
        known = {node.name: node for node in await self.config.nodes()}
        self._old = known.get(self._name)
        if self.op.readd and self._old is None:
            raise OpPrereqError(f"node {self._name} is not in the cluster, so it cannot be added again", ECode.NOENT)
        if not self.op.readd and self._old is not None:
            raise OpPrereqError(f"node {self._name} is already in the cluster", ECode.EXISTS)
        if self._old is not None and self._old.uuid == (await self.config.cluster()).master_node:
            raise OpPrereqError(f"node {self._name} is the master, which cannot be added again", ECode.STATE)
        if self._old is not None and self.op.group is not None and self._group.uuid != self._old.group:
            raise OpPrereqError(
                f"node {self._name} keeps its group when it is added again, but group {self.op.group} is given",
                ECode.INVAL,
            )
        await self._check_addresses([node for node in known.values() if node.name != self._name])
        old = self._old
        given = self.op.ndparams if old is None or self.op.ndparams is not None else old.ndparams
        self._ndparams = check_ndparams(given or {}, for_node=True)
        group = (
            self._group if old is None else await self.config.group(old.group)
        )  # one that is known stays where it is
        self._switch = wanted_switch(await self.config.cluster(), group, self._ndparams)
        self._hv_state = changed_hv_state({} if old is None else old.hv_state_static, self.op.hv_state)
        self._disk_state = changed_disk_state({} if old is None else old.disk_state_static, self.op.disk_state)
        if not self.op.dry_run:  # which is asked for before the node is set up: there is no daemon yet
            await self._check_daemon()
            await self._check_volumes()
            if self._switch is not None:
                await self._switch.check(self.nodes, NodeAddress(self._name, self._address))

    async def hook_values(self) -> Mapping[str, object]:
        """The node as it will be."""
        return {
            "OP_TARGET": self._name,
            "NODE_NAME": self._name,
            "NODE_PIP": self._address,
            "NODE_SIP": self._secondary,
            "MASTER_CAPABLE": self._capable,
            "VM_CAPABLE": self._vm_capable,
        }

    async def object_nodes(self) -> Sequence[Node]:
        """The node, as soon as it is in the configuration."""
        return [node for node in await self.config.nodes() if node.name == self._name]

    @property
    def _capable(self) -> bool:
        """Whether it can be the master: as asked for, as it could, or else yes."""
        had = self._old.master_capable if self._old is not None else True
        return self.op.master_capable if self.op.master_capable is not None else had

    @property
    def _vm_capable(self) -> bool:
        """Whether it can have instances, likewise."""
        had = self._old.vm_capable if self._old is not None else True
        return self.op.vm_capable if self.op.vm_capable is not None else had

    @property
    def _secondary(self) -> str:
        """The secondary address asked for, the one of its own that the node had, or the primary one, which may be a new one."""
        old = self._old
        own = old.secondary_ip if old is not None and old.secondary_ip != old.primary_ip else self._address
        return self.op.secondary_ip or own

    async def _check_addresses(self, others: Sequence[Node]) -> None:
        cluster = await self.config.cluster()
        if (fault := self._address_fault(cluster.primary_ip_family)) is not None:
            raise OpPrereqError(f"node {self._name}: {fault}", ECode.INVAL)
        secondary = self._secondary
        if cluster.master_ip in (self._address, secondary):
            text = f"address {cluster.master_ip} belongs to the cluster {cluster.cluster_name} itself"
            raise OpPrereqError(text, ECode.NOTUNIQUE)
        for other in others:
            for address in (self._address, secondary):
                if address in (other.primary_ip, other.secondary_ip):
                    raise OpPrereqError(f"address {address} belongs to node {other.name} already", ECode.NOTUNIQUE)
        double = [node for node in others if node.primary_ip != node.secondary_ip]
        if others and bool(double) != (secondary != self._address):
            has = "have" if double else "do not have"
            raise OpPrereqError(
                f"the other nodes {has} a secondary address of their own; all nodes must be alike", ECode.INVAL
            )

    def _address_fault(self, family: int) -> str | None:
        """What is wrong with one of its addresses."""
        if self.op.secondary_ip is None and self._old is None and (fault := missing_secondary(family)) is not None:
            return fault
        for which, fault in (
            ("primary", primary_fault(self._address, family)),
            ("secondary", secondary_fault(self._secondary)),
        ):
            if fault is not None:
                return f"{which} address {fault}"
        return None

    async def _check_daemon(self) -> None:
        target = NodeAddress(self._name, self._address)
        version = await ask(self.nodes, target, Version(), ECode.ENVIRON)
        if version != NODE_PROTOCOL_VERSION:
            text = f"node {self._name} speaks protocol version {version}, this cluster {NODE_PROTOCOL_VERSION}"
            raise OpPrereqError(text, ECode.ENVIRON)
        secondary = self.op.secondary_ip
        if secondary and not await ask(self.nodes, target, NodeHasIpAddress(address=secondary), ECode.ENVIRON):
            raise OpPrereqError(f"node {self._name} does not have the secondary address {secondary}", ECode.ENVIRON)
        try:
            self._digest, self._server_digest = await certificate_digests(self.nodes, target)
        except RpcError as error:
            raise OpPrereqError(str(error), ECode.ENVIRON) from None

    async def _check_volumes(self) -> None:
        """Its physical volumes are as large as those of the others, where no two disks may lie on the same one."""
        if self._vm_capable:
            new = [NodeAddress(self._name, self._address)]
            others = [node for node in await self.config.nodes() if node.name != self._name]
            await check_alike(self, await self.config.cluster(), self._group, others, new)

    def plan(self) -> Plan:
        """The node, its keys, and who else becomes a candidate; whether it becomes one is decided when it is put in."""
        node, name = (f"node {self._name}",), (self._name,)
        steps = [PlannedStep(ADD, (), node), PlannedStep(LEARN, name, node)]
        copies = [] if self._old is None else [taking_copies(self._name)]
        return [*steps, *copies, FILL_POOL, *([] if self._switch is None else self._switch.steps(self._name))]

    async def execute(self) -> None:
        """Put it in."""
        cluster = await self.config.cluster()
        others = [node for node in await self.config.nodes() if node.name != self._name]
        candidates = [node for node in others if node.master_candidate]
        candidate = self._capable and len(candidates) < cluster.candidate_pool_size
        node = await self._new_node(candidate)
        try:
            async with self.step(ADD):
                await self._put_in(node)
            await self.config.when_distributed()
        except GanetiError as error:
            raise OpExecError(f"node {self._name} was not added: {error}")
        async with self.step(LEARN):
            await learn_from(self, node, set_up=self.op.node_setup)
        await self.config.when_distributed()
        if self._old is not None:
            self.info("- INFO: Readding a node, the offline/drained flags were reset")
        if candidate:
            self.info("- INFO: Node will be a master candidate")
        if self._old is not None and not candidate:
            await take_copies(self, node)
        await fill_pool(self)
        if self._switch is not None:
            await self._switch.make(self, node, "added", f"gnt-node add --readd {node.name}")

    async def _put_in(self, node: Node) -> None:
        """A node that is known keeps its uuid and its instances; its certificate may be another one."""
        digest = self._digest if node.master_candidate else None
        if self._old is None:
            await self.config.add_node(node, digest, self._server_digest)
            return
        digests = {node.uuid: digest, server_key(node.uuid): self._server_digest}
        await self.config.change_nodes([node], {key: each for key, each in digests.items() if each is not None})

    async def _new_node(self, candidate: bool) -> Node:
        now = self.context.now()
        base = self._old
        fresh = Node(
            uuid=base.uuid if base is not None else await self.config.generate_uuid(),
            name=self._name,
            primary_ip=self._address,
            secondary_ip=self._secondary,
            group=base.group if base is not None else self._group.uuid,
            master_candidate=candidate,
            offline=False,
            drained=False,
            master_capable=self._capable,
            vm_capable=self._vm_capable,
            powered=True,
            ndparams=self._ndparams,
            hv_state_static=self._hv_state,
            disk_state_static=self._disk_state,
            serial_no=base.serial_no if base is not None else 1,
            ctime=base.ctime if base is not None else now,
            mtime=now,
        )
        return fresh if base is None else msgspec.structs.replace(fresh, tags=base.tags)
