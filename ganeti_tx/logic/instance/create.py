"""Making a new instance."""

from collections.abc import Mapping, Sequence

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpExecError, OpPrereqError, ResolverError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.allocation import DEFAULT, Allocation, allocator_name, ask_among
from ganeti_tx.logic.disks.make import create_disks, creations, make_disks
from ganeti_tx.logic.disks.on_nodes import assemble_elsewhere, disk_nodes, shutdown_disks, shutdowns
from ganeti_tx.logic.disks.plan import space_wanted, template_of
from ganeti_tx.logic.disks.sync import assemble_everywhere, wait_for_sync
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.instance.create_plan import (
    CreatePlan,
    allocate_request,
    check_homes,
    check_name,
    make_plan,
    policy_faults,
    refuse_unavailable,
    with_children,
)
from ganeti_tx.logic.instance.hook_values import instance_values
from ganeti_tx.logic.instance.nics import make_nics, reserve_macs, wanted_bridges
from ganeti_tx.logic.instance.presence import start, stop_call
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import ask, check_free_memory
from ganeti_tx.logic.undos import in_config, on_node
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import OF_NODES, held_nodes, keep_nodes, on_allocation, on_instance, on_nodes
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import AdminState, AdminStateSource
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView, view_of
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.instance import HypervisorValidateParams, InstanceOsAdd
from ganeti_tx.rpc.calls.node import BridgesExist, NodeInfo
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.rpc.interfaces import RpcError

ADD, INSTALL, START = "add the instance to the configuration", "run the OS create scripts", "start the instance"
SYNC = "wait until its disks are in sync"


class LUInstanceCreate(LogicalUnit[OpInstanceCreate]):
    """Create disks, put the instance into the configuration, install and start it; a failure takes all of it back."""

    hook = Hook("instance-add", HookObject.INSTANCE, asked={"ADD_MODE": "mode"})

    _name: str
    _address: str | None = None
    _node: Node
    _secondary: Node | None = None
    _allocator: str | None = None
    _candidates: Sequence[Node]
    _group: NodeGroup
    _cluster: Cluster
    _plan: CreatePlan
    _target: InstanceView

    async def expand_names(self) -> None:
        """The full name of the new instance, and its nodes."""
        refuse_unavailable(self.op)
        if self.op.name_check:
            await self._resolve()
        else:
            self._name = check_name(self.op.instance_name)
        await self._find_nodes()

    async def _resolve(self) -> None:
        given = check_name(self.op.instance_name)
        try:
            name, self._address = await self.around.resolve(given)
        except ResolverError as error:
            raise OpPrereqError(
                f"the name of instance {given} does not resolve ({error}); "
                "--no-name-check (name_check=false) does without",
                ECode.RESOLVER,
            ) from None
        self._name = check_name(name)
        if self._name != given:
            self.info(f"Resolved given name '{given}' to '{self._name}'")

    async def _find_nodes(self) -> None:
        """The nodes that are given, or else the allocator that is to choose them."""
        wanted = self.op.pnode_uuid or self.op.pnode
        if self.op.iallocator is not None and wanted is not None:
            raise OpPrereqError(f"iallocator {self.op.iallocator} and node {wanted} exclude each other", ECode.INVAL)
        if self.op.opportunistic_locking and wanted is not None:
            raise OpPrereqError(
                f"opportunistic_locking goes with an iallocator only, but node {wanted} is given", ECode.INVAL
            )
        if wanted is not None:
            self._node = await self.config.node(wanted)
            self._secondary = await self._find_secondary()
            self._candidates = self._homes
            return
        cluster = await self.config.cluster()
        if self.op.iallocator is None and not cluster.default_iallocator:
            raise OpPrereqError(
                "No iallocator or node given and no cluster-wide default iallocator found; please specify either an"
                " iallocator or a node, or set a cluster-wide default iallocator",
                ECode.INVAL,
            )
        self._allocator = allocator_name(self.op.iallocator or DEFAULT, cluster)
        self._candidates = await self.config.nodes()

    async def _find_secondary(self) -> Node | None:
        """The node of the second copies, where disks are mirrored; else one that was given is ignored."""
        wanted = self.op.snode_uuid or self.op.snode
        mirrored = TEMPLATES[template_of(self.op, await self.config.cluster())].secondaries > 0
        if wanted is not None and not mirrored:
            self.warn("Secondary node will be ignored on non-mirrored disk template")
        return await self.config.node(wanted) if wanted is not None and mirrored else None

    @property
    def _homes(self) -> list[Node]:
        """The nodes that it will be on, the primary one first."""
        return [node for node in (self._node, self._secondary) if node is not None]

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The new name alone, so that nobody else makes it; its nodes with others. An allocator sees all nodes, and no other
        one what it has not taken yet.
        """
        if level is Level.INSTANCE:
            return [on_instance(self._name, Mode.EXCLUSIVE)]
        if level is Level.NODE_ALLOC:
            return [on_allocation(Mode.SHARED if self._allocator is None else Mode.EXCLUSIVE)]
        if level in OF_NODES and not self.op.opportunistic_locking:
            return on_nodes([node.uuid for node in self._candidates], Mode.SHARED, level)
        return ()

    async def locks_if_free_at(self, level: Level) -> Sequence[LockRequest]:
        """Opportunistically, nodes that nobody uses now; nobody else does until the instance is there."""
        if level in OF_NODES and self.op.opportunistic_locking:
            return on_nodes([node.uuid for node in self._candidates], Mode.EXCLUSIVE, level)
        return ()

    async def check(self) -> None:
        """The request makes sense, the group admits it, the node can take it; given MAC addresses are reserved."""
        self._cluster = await self.config.cluster()
        if self._name in await self.config.instance_names():
            raise OpPrereqError(f"instance {self._name} is already in the cluster", ECode.EXISTS)
        self._plan = make_plan(self.op, self._cluster, self._name, self._address, self.around.templates)
        if self._allocator is not None:
            await self._allocate(self._allocator)
        await self._read_nodes()
        check_homes(self._homes, self._plan.template)
        self._plan = with_children(self._plan, self._cluster, self._group)
        await self._check_group()
        if self.op.ip_check:
            await self._check_address()
        self._check_policy()
        await self._check_node()
        await reserve_macs(self.config, self._plan.nics)
        if self.op.no_install and self.op.start:
            self.info("No-installation mode selected, disabling startup")
        self._target = await self._make_target()

    async def hook_values(self) -> Mapping[str, object]:
        """The instance as it is to be; its status is whether it is to be started."""
        return {
            **await super().hook_values(),
            **instance_values(self._target),
            "INSTANCE_STATUS": self._plan.start,
        }

    async def object_nodes(self) -> Sequence[Node]:
        """Where it is to be."""
        return list(self._target.nodes.values())

    async def _allocate(self, name: str) -> None:
        """Have the allocator choose the nodes, and let go of the others."""
        allocation = Allocation(
            config=self.config,
            nodes=self.nodes,
            warn=self.warn,
            name=name,
            template=self._plan.template,
            hypervisor=self._plan.hypervisor,
        )
        request = allocate_request(self._plan, self._cluster, await self._wanted_group())
        known = {node.name: node for node in self._candidates}
        if self.op.opportunistic_locking:
            free = await held_nodes(self.around.locks)
            known = {node.name: node for node in self._candidates if node.uuid in free}
            chosen = await ask_among(allocation, request, sorted(known))
        else:
            chosen = await allocation.ask(request)
        for unknown in (each for each in chosen if each not in known):
            raise OpExecError(f"iallocator '{name}' has chosen {unknown!r}, which is no node that it could choose")
        self.info(f"- INFO: Selected nodes for instance {self._name} via iallocator {name}: {', '.join(chosen)}")
        self._node = known[chosen[0]]
        self._secondary = known[chosen[1]] if len(chosen) > 1 else None
        await keep_nodes(
            self.around.locks, [node.uuid for node in self._homes], others_may_choose=self.op.opportunistic_locking
        )

    async def _wanted_group(self) -> str | None:
        return None if self.op.group_name is None else (await self.config.group(self.op.group_name)).name

    async def _read_nodes(self) -> None:
        """Again, under the locks."""
        self._node = await self.config.node(self._node.uuid)
        self._group = await self.config.group(self._node.group)
        if self._secondary is not None:
            self._secondary = await self.config.node(self._secondary.uuid)

    async def _check_group(self) -> None:
        """@raise OpPrereqError: another group was asked for than the node's."""
        if self.op.group_name is None:
            return
        wanted = await self.config.group(self.op.group_name)
        if wanted.uuid != self._node.group:
            raise OpPrereqError(
                f"node {self._node.name} is in group {self._group.name}, not in {wanted.name}", ECode.INVAL
            )

    async def _check_address(self) -> None:
        """@raise OpPrereqError: the address of the instance's name is the cluster's or a node's own, or another host's."""
        taken = {self._cluster.master_ip: "the cluster"}
        for node in await self.config.nodes():
            taken.update({node.primary_ip: f"node {node.name}", node.secondary_ip: f"node {node.name}"})
        if self._address in taken:
            raise OpPrereqError(
                f"IP {self._address} of instance {self._name} is already in use by {taken[self._address]}",
                ECode.NOTUNIQUE,
            )
        if self._address is not None and await self.around.ping(self._address):
            raise OpPrereqError(
                f"IP {self._address} of instance {self._name} is already in use: a host answers there"
                " (--no-ip-check does not ask)",
                ECode.NOTUNIQUE,
            )

    def _check_policy(self) -> None:
        fault = policy_faults(self._plan, self._cluster, self._group)
        if fault is None:
            return
        if not self.op.ignore_ipolicy:
            raise OpPrereqError(fault, ECode.INVAL)
        self.warn(f"{fault}; ignored, as asked for")

    async def _check_node(self) -> None:
        plan, hvparams = self._plan, self._plan.filled_hvparams(self._cluster)
        call = HypervisorValidateParams(hypervisor=plan.hypervisor.value, hvparams=hvparams)
        await ask(self.nodes, self._node, call)
        if wanted := wanted_bridges(self._cluster, plan.nics):
            await ask(self.nodes, self._node, BridgesExist(bridges=wanted), ECode.ENVIRON)
        if plan.install:
            os_call = OsValidate(
                required=True,
                os_name=plan.os,
                checks=["parameters"],
                osparams=plan.filled_osparams(self._cluster),
                force_variant=self.op.force_variant,
            )
            await ask(self.nodes, self._node, os_call)
        if plan.start:
            needed = plan.filled_beparams(self._cluster).maxmem
            purpose = f"creating instance {plan.name}"
            await check_free_memory(self.nodes, self._node, plan.hypervisor.value, needed, purpose)
        for node in self._homes:
            await self._check_space(node)

    async def _check_space(self, node: Node) -> None:
        """@raise OpPrereqError: a pool is too full; one whose room the node cannot tell is tried."""
        wanted = space_wanted(self._plan.disks)
        if not wanted:
            return
        call = NodeInfo(storage_units=[unit for unit, _ in wanted], hypervisors=[])
        facts = await ask(self.nodes, node, call, ECode.ENVIRON)
        free = {(space.type, space.name): space.storage_free for space in facts.storage}
        for unit, size in wanted:
            room = free.get((unit.type, unit.name))
            if room is not None and room < size:
                raise OpPrereqError(
                    f"not enough room in {unit.name} of node {node.name}: needed {size} MiB, free {room} MiB",
                    ECode.NORES,
                )

    def plan(self) -> Plan:
        """Each disk; the instance; what it was asked to have done to it."""
        target, instance = self._target, (f"instance {self._name}",)
        steps = [*creations(target), PlannedStep(ADD, (), instance)]
        if self._waits_for_sync:
            steps.append(PlannedStep(SYNC, disk_nodes(target), instance))
        if self._plan.install:
            steps.append(PlannedStep(INSTALL, disk_nodes(target), instance))
        if self._plan.start:
            steps.append(PlannedStep(START, disk_nodes(target), instance))
        return steps

    async def execute(self) -> list[str]:
        """Make it; the names of the nodes it is on."""
        target, uuid = self._target, self._target.instance.uuid
        self.info("* creating instance disks...")
        await create_disks(self.nodes, target, self.around.steps)
        self.info(f"adding instance {self._name} to cluster config")
        async with self.step(ADD, in_config(f"remove instance {self._name}", IConfig.remove_instance, uuid)):
            await self.config.add_instance(target.instance, target.disks)
        target = await self.config.instance_view(uuid)  # it has its times from there
        if self._waits_for_sync:
            await self._synchronise(target)
        if self._plan.install:
            await self._install(target)
        if self._plan.start:
            await self._start(target)
        return [target.primary.name, *(node.name for node in target.secondaries)]

    async def _make_target(self) -> InstanceView:
        plan = self._plan
        disks = await make_disks(self.config, plan.disks, [node.uuid for node in self._homes])
        instance = Instance(
            serial_no=1,
            uuid=await self.config.generate_uuid(),
            name=plan.name,
            primary_node=self._node.uuid,
            os=plan.os,
            hypervisor=plan.hypervisor,
            admin_state=AdminState.DOWN,
            admin_state_source=AdminStateSource.ADMIN,
            disks_active=False,
            hvparams=plan.hvparams,
            beparams=plan.beparams,
            osparams=plan.osparams,
            osparams_private=plan.osparams_private,
            nics=await make_nics(self.config, plan.nics),
            disks=tuple(disk.uuid for disk in disks),
            tags=plan.tags,
            network_port=await self.config.allocate_port() if HYPERVISORS[plan.hypervisor].takes_port else None,
        )
        return view_of(
            instance,
            cluster=self._cluster,
            disks={disk.uuid: disk for disk in disks},
            nodes={node.uuid: node for node in self._homes},
            groups={node.group: await self.config.group(node.group) for node in self._homes},
            networks={},
        )

    @property
    def _waits_for_sync(self) -> bool:
        return self.op.wait_for_sync and TEMPLATES[self._plan.template].secondaries > 0

    async def _synchronise(self, target: InstanceView) -> None:
        async with self.step(SYNC, *shutdowns(target)):
            await assemble_everywhere(self.nodes, target, self.warn)
            await wait_for_sync(self.nodes, target, self.info, self.pause)
            if not (self._plan.install or self._plan.start):
                await shutdown_disks(self.nodes, target, self.warn)

    async def _install(self, target: InstanceView) -> None:
        self.info("* running the instance OS create scripts...")
        async with self.step(INSTALL, *shutdowns(target)):
            await assemble_elsewhere(self.nodes, target, self.warn)
            try:
                spec = target.spec(osparams_secret=self._plan.osparams_secret)
                await self.nodes.call(target.primary, InstanceOsAdd(instance=spec, debug=self.op.debug_level or 0))
            except RpcError as error:
                raise OpExecError(f"could not install OS {self._plan.os} on instance {self._name}: {error}") from None
            if not self._plan.start:
                await shutdown_disks(self.nodes, target, self.warn)

    async def _start(self, target: InstanceView) -> None:
        self.info("* starting instance...")
        uuid = target.instance.uuid
        async with self.step(START, self._stop_again(target)):  # an answer that got lost may mean that it runs
            await start(self.nodes, target, target.spec(), self.warn)
            await self.config.set_instance_state(uuid, AdminState.UP, AdminStateSource.ADMIN, True)

    def _stop_again(self, target: InstanceView) -> Undo:
        """Nothing runs that is not configured: what may run stays where it can be found."""
        return on_node(
            f"stop instance {self._name}",
            target.primary,
            stop_call(target, 0, force=True),
            otherwise=f"instance {self._name} may run on node {target.primary.name}, so it stays in the configuration;"
            f" when the node can be reached, remove it with 'gnt-instance remove {self._name}'",
        )
