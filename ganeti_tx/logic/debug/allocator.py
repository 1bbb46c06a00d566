"""Asking an allocator without acting on what it says."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ganeti_tx.allocator.requests import Allocate, AllocateSecondary, ChangeGroup, NodeEvacuate, several
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level
from ganeti_tx.logic.allocation import Allocation, allocators, asked_groups, relocation
from ganeti_tx.logic.group.on_group import listed
from ganeti_tx.logic.instance.create_plan import allocate_request, make_plan
from ganeti_tx.logic.instance.nic_networks import named_networks
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_all, on_allocation
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes.fault import short_json
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate
from ganeti_tx.model.opcodes.test import OpTestAllocator
from ganeti_tx.model.opcodes.types import AllocatorDirection, AllocatorMode, EvacuationMode, InstanceCreateMode

#: So many new instances may be asked for at once: the document has each of them.
MOST_AT_ONCE = 1000
#: What must be said of a new instance.
NEEDED = ("disk_template", "disks", "nics", "memory", "vcpus", "os")
OF_NEW_ONES = (AllocatorMode.ALLOCATE, AllocatorMode.MULTI_ALLOCATE)
OF_ONE = (AllocatorMode.RELOCATE, AllocatorMode.ALLOCATE_SECONDARY)


class LUTestAllocator(LogicalUnit[OpTestAllocator]):
    """Gives what an allocator would be told, or what it says to that, as it prints it. Nothing is changed."""

    _request: Any
    _template: DiskTemplate
    _hypervisor: Hypervisor
    _names: Sequence[str] = ()

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """What it is told of stays as it is meanwhile."""
        if level is Level.NODE_ALLOC:
            return [on_allocation()]
        return [on_all(level)] if level is Level.NODE else ()

    async def check(self) -> None:
        """Everything that such a request needs is given."""
        cluster = await self.config.cluster()
        self._hypervisor = self.op.hypervisor or cluster.enabled_hypervisors[0]
        if self.op.mode in OF_NEW_ONES:
            self._request = await self._of_new_ones()
        else:
            self._request = await self._of_instances()
        if self.op.direction is AllocatorDirection.OUT:
            self._names = allocators(self.op.iallocator, cluster, self.op.mode)

    async def _of_new_ones(self) -> Any:
        if missing := [name for name in NEEDED if getattr(self.op, name) is None]:
            raise OpPrereqError(f"a request of mode {self.op.mode.value} needs {', '.join(missing)}", ECode.INVAL)
        if self.op.name in await self.config.instance_names():
            raise OpPrereqError(f"Instance '{self.op.name}' already in the cluster", ECode.EXISTS)
        self._check_new_ones()
        cluster = await self.config.cluster()
        op = self._creation()
        networks = await named_networks(self.config, op.nics)
        plan = make_plan(op, cluster, self.op.name, None, self.context.templates, networks)
        self._template = plan.template
        request = allocate_request(plan, cluster, *await asked_groups(self.config, self.op.group_name))
        return request if self.op.mode is AllocatorMode.ALLOCATE else several(numbered(request, self.op.count))

    def _check_new_ones(self) -> None:
        """@raise OpPrereqError: what the types of the opcode leave open is not as it must be."""
        if self.op.count > MOST_AT_ONCE:
            raise OpPrereqError(f"count is {self.op.count}; allowed are 0 to {MOST_AT_ONCE}", ECode.INVAL)
        for index, disk in enumerate(self.op.disks or ()):
            if not isinstance(disk, Mapping):
                raise OpPrereqError(f"disk/{index}: expected an object, got {short_json(disk)}", ECode.INVAL)

    def _creation(self) -> OpInstanceCreate:
        """The creation that is only thought of."""
        op = self.op
        return OpInstanceCreate(
            instance_name=op.name,
            mode=InstanceCreateMode.CREATE,
            disk_template=op.disk_template,
            disks=tuple(op.disks or ()),
            nics=op.nics or (),
            os_type=op.os,
            hypervisor=self._hypervisor,
            tags=op.tags,
            beparams={"memory": op.memory, "vcpus": op.vcpus, "spindle_use": op.spindle_use},
        )

    async def _of_instances(self) -> Any:
        names = [self.op.name] if self.op.mode in OF_ONE else self.op.instances or [self.op.name]
        views = [await self._view(name) for name in names]
        self._template, self._hypervisor = views[0].disk_template, views[0].instance.hypervisor
        full = [view.instance.name for view in views]
        match self.op.mode:
            case AllocatorMode.RELOCATE:
                leave = [views[0].primary] if not TEMPLATES[self._template].secondaries else views[0].secondaries
                return relocation(views[0], leave)
            case AllocatorMode.ALLOCATE_SECONDARY:
                return AllocateSecondary(name=full[0])
            case AllocatorMode.CHANGE_GROUP:
                groups = await listed(self.config, self.op.target_groups or ())
                return ChangeGroup(instances=full, target_groups=[group.uuid for group in groups])
            case _:
                return NodeEvacuate(instances=full, evac_mode=(self.op.evac_mode or EvacuationMode.ALL).value)

    async def _view(self, name: str) -> InstanceView:
        return await self.config.instance_view((await self.config.instance(name)).uuid)

    async def execute(self) -> str:
        """The document, or the answer."""
        allocation = Allocation(
            config=self.config,
            nodes=self.nodes,
            warn=self.warn,
            names=self._names,
            template=self._template,
            hypervisor=self._hypervisor,
        )
        if self.op.direction is AllocatorDirection.IN:
            return await allocation.told(await self.config.everything(), self._request)
        return await allocation.said(self._request)


def numbered(request: Allocate, count: int) -> list[Allocate]:
    """So many instances like one."""
    return [replace(request, name=f"{request.name}-{number}") for number in range(count)]
