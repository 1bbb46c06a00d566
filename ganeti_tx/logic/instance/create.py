"""Making a new instance."""

from collections.abc import Mapping, Sequence

import attrs
from msgspec.structs import replace

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.backup.filling import filled
from ganeti_tx.logic.backup.importing import Filling, Import
from ganeti_tx.logic.backup.remote.importing import RemoteImport
from ganeti_tx.logic.backup.source import find_source
from ganeti_tx.logic.disks.adopt import renamed, with_sizes
from ganeti_tx.logic.disks.compression import check_compression
from ganeti_tx.logic.disks.exclusive import check_wanted, with_spindles
from ganeti_tx.logic.disks.make import create_disks, creations, make_disks
from ganeti_tx.logic.disks.marking import mark_disks
from ganeti_tx.logic.disks.on_nodes import disk_nodes
from ganeti_tx.logic.disks.providers import check_providers
from ganeti_tx.logic.disks.wipe import to_wipe, wipe_whole, wiping
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.image_run.installing import ImageInstall
from ganeti_tx.logic.instance.communication import with_communication
from ganeti_tx.logic.instance.create_checks import check_address, check_runs, check_space
from ganeti_tx.logic.instance.create_plan import (
    CreatePlan,
    check_homes,
    check_os,
    make_plan,
    refuse_unavailable,
    specs_of_plan,
    with_children,
)
from ganeti_tx.logic.instance.create_setting_up import SettingUp
from ganeti_tx.logic.instance.forthcoming import (
    Own,
    as_reserved,
    keeping,
    refuse_adopting,
    refuse_real,
    reserved_only,
    room_reserved,
)
from ganeti_tx.logic.instance.hook_values import instance_values
from ganeti_tx.logic.instance.new_name import new_name
from ganeti_tx.logic.instance.nic_networks import Networks, check_strangers, joined, named_networks, with_addresses
from ganeti_tx.logic.instance.nics import make_nics, reserve_macs
from ganeti_tx.logic.instance.placement import Placement
from ganeti_tx.logic.instance.taken import check_link_local, check_taken
from ganeti_tx.logic.network.unit import on_network
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.policy import check_specs
from ganeti_tx.logic.ratios import warn_of_ratios
from ganeti_tx.logic.undos import in_config
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.unsent_files import unsent_files
from ganeti_tx.logic.wanted_locks import on_instance
from ganeti_tx.model import sizes
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import AdminState, AdminStateSource
from ganeti_tx.model.exclusive_storage import is_exclusive
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView, view_of
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate
from ganeti_tx.model.opcodes.types import InstanceCreateMode
from ganeti_tx.model.params.hypervisor import fill_hvparams

COMMIT = "put the instance in the place of its reservation"
ADD, MARK = "add the instance to the configuration", "mark the adopted disks as its own"


class LUInstanceCreate(LogicalUnit[OpInstanceCreate]):
    """Create disks, put the instance into the configuration, install and start it.

    A failure takes all of it back, but for a start that fails: what is installed stays.
    """

    hook = Hook("instance-add", HookObject.INSTANCE, asked={"ADD_MODE": "mode"})

    _name: str
    _address: str | None = None
    #: What `commit` makes an instance of.
    _reserved: InstanceView | None = None
    #: What brings its data, if it is not installed.
    _data: Filling | None = None
    #: What installs it, if no node may.
    _image: ImageInstall | None = None
    _place: Placement
    _networks: Networks
    _cluster: Cluster
    _plan: CreatePlan
    _target: InstanceView

    async def expand_names(self) -> None:
        """The full name of the new instance, and its nodes."""
        refuse_unavailable(self.op)
        if self.op.commit:
            await self._find_reserved()
        self._name, self._address = await new_name(self.op, self.context.resolve, self.info)
        if self.op.mode is InstanceCreateMode.IMPORT:
            await self._find_export()
        elif self.op.mode is InstanceCreateMode.REMOTE_IMPORT:
            check_compression(self.op.compress, await self.config.cluster())
            self._data = RemoteImport.asked(self)
        check_os(self.op)
        if self.op.instance_communication:
            nics = with_communication(self._name, self.op.nics, await self.config.cluster())
            self.op = replace(self.op, nics=nics)
        self._networks = await named_networks(self.config, self.op.nics)
        self._place = Placement(self, self.context.locks, self.op)
        await self._place.find()

    async def _find_reserved(self) -> None:
        """The forthcoming instance, which goes by the name that it was reserved under."""
        held = self._reserved = await self.config.instance_view(self.op.instance_name)
        refuse_real(held)
        self.op = replace(as_reserved(self.op, held), instance_name=held.instance.name, name_check=False)

    async def _find_export(self) -> None:
        """What it is imported from, which says whatever was not."""
        cluster = await self.config.cluster()
        check_compression(self.op.compress, cluster)
        source = await find_source(self, self.op, self._name)
        self.op = filled(self.op, source.exported, self._name, cluster, self.warn)
        self._data = Import(self, source, self.op.compress, self.op.debug_level or 0)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The new name alone, so that nobody else makes it; and where it will be."""
        if level is Level.INSTANCE:
            read = () if self._data is None else self._data.locks(self._name)
            return [on_instance(self._name, Mode.EXCLUSIVE), *read]
        if level is Level.NETWORK:
            uuids = sorted({network.uuid for network in self._networks.values()})
            return [on_network(uuid, Mode.SHARED) for uuid in uuids]
        return self._place.locks_at(level)

    async def locks_if_free_at(self, level: Level) -> Sequence[LockRequest]:
        """Where it may be."""
        return self._place.locks_if_free_at(level)

    def new_names(self) -> Sequence[str]:
        """Its own."""
        return (self._name,)

    async def check(self) -> None:
        """The request makes sense, the group admits it, the node can take it; given MAC addresses are reserved."""
        if self.op.no_install and self.op.start:
            self.info("- INFO: No-installation mode selected, disabling startup")
        self._cluster = await self.config.cluster()
        await self._check_free()
        if self._data is not None:
            await self._data.read_again()
        self._networks = await named_networks(self.config, self.op.nics)
        self._plan = make_plan(
            self.op, self._cluster, self._name, self._address, self.context.templates, self._networks
        )
        if self.op.forthcoming:
            refuse_adopting(self._plan.disks)
        await self._place.decide(self._plan, self._cluster)
        await self._place.read()
        check_homes(self._place.homes, self._plan.template)
        held = () if self._reserved is None else self._reserved.instance.disks
        disks = await with_sizes(self, self._place.primary, self._plan.disks, held)
        self._plan = with_children(attrs.evolve(self._plan, disks=disks), self._cluster, self._place.group)
        await self._place.check_group()
        spindles = [disk.spindles for disk in self._plan.disks]
        check_wanted(self._cluster, self._place.group, [self._plan.template], spindles)
        await self._join_networks()
        if self.op.ip_check:
            nodes = await self.config.nodes()
            await check_address(self._name, self._address, self._cluster, nodes, self.context.ping)
        self._check_policy()
        await self._check_nodes()
        self._target = await self._make_target()
        if self._plan.install and not self.op.forthcoming and self._data is None:
            self._image = await ImageInstall.planned(
                self, self._target, self._plan.os, self.op.helper_startup_timeout, self.op.helper_shutdown_timeout
            )
        await warn_of_ratios(self, self._target, ignored=self.op.ignore_ipolicy)

    async def _check_free(self) -> None:
        """@raise OpPrereqError: there is an instance of that name; or what was reserved is not there any more as it was."""
        if self._reserved is None:
            if self._name in await self.config.instance_names():
                raise OpPrereqError(f"Instance '{self._name}' is already in the cluster", ECode.EXISTS)
            return
        now = await self.config.instance_view(self._reserved.instance.uuid)
        if now.instance != self._reserved.instance:
            raise OpPrereqError(f"instance {self._name} was changed meanwhile; ask again", ECode.STATE)

    async def _join_networks(self) -> None:
        """What the node group's connections say of the NICs; and the NICs take their addresses."""
        group = self._place.group
        nics = keeping(joined(self.info, self._cluster, self._plan.nics, group), self._held_nics)
        networks = await self.config.networks()
        if self.op.conflicts_check:
            check_strangers(nics, group, networks)
            await check_taken(self.config, nics, None if self._reserved is None else self._reserved.instance.uuid)
        own = Own.of(self._held_nics)
        external = not self.op.conflicts_check
        nics = await with_addresses(self.config, self.info, nics, external=external, own=own.addresses)
        for nic in nics:
            check_link_local(self._cluster, networks, nic.network, nic.ip)
        await reserve_macs(self.config, nics, own.macs)
        self._plan = attrs.evolve(self._plan, nics=nics)

    @property
    def _held_nics(self) -> Sequence[Nic]:
        """Those that were reserved."""
        return () if self._reserved is None else self._reserved.instance.nics

    async def hook_values(self) -> Mapping[str, object]:
        """The instance as it is to be; its status is whether it is to be started."""
        return {
            **await super().hook_values(),
            **instance_values(self._target),
            "INSTANCE_STATUS": self._plan.start,
            **({} if self._data is None else self._data.hook_values()),
        }

    async def object_nodes(self) -> Sequence[Node]:
        """Where it is to be."""
        return list(self._target.nodes.values())

    def _check_policy(self) -> None:
        specs = specs_of_plan(self._plan, self._cluster, self._place.group)
        check_specs(self._cluster, self._place.group, specs, ignored=self.op.ignore_ipolicy, warn=self.warn)

    async def _check_nodes(self) -> None:
        await check_runs(
            self.nodes,
            self._place.primary,
            self._plan,
            self._cluster,
            force_variant=self.op.force_variant or self._data is not None,
            scripts=() if self._data is None else self._data.scripts,
        )
        plan, cluster = self._plan, self._cluster
        usual = fill_hvparams(cluster, plan.hypervisor, plan.os)
        for fault in unsent_files(plan.hypervisor, plan.filled_hvparams(cluster), usual, self.context.listed_files()):
            self.warn(fault)
        own = () if self._reserved is None else self._reserved.instance.disks
        await check_providers(self, self._place.primary, self._plan.disks, own)
        others = [disk for disk in await self.config.forthcoming_disks() if disk.uuid not in own]
        for node in self._place.homes:
            reserved = room_reserved(others, self._cluster, node)
            exclusive = is_exclusive(self._cluster, self._place.group, node)
            await check_space(self.nodes, node, self._plan.disks, reserved, exclusive=exclusive)

    def plan(self) -> Plan:
        """Each disk; the instance; what it was asked to have done to it."""
        target, instance = self._target, (f"instance {self._name}",)
        if self.op.forthcoming:
            return [PlannedStep(ADD, (), instance)]
        steps = [
            *creations(target),
            *wiping(target, self._wiped),
            PlannedStep(ADD if self._reserved is None else COMMIT, (), instance),
        ]
        if renamed(self._plan.disks):
            steps.append(PlannedStep(MARK, disk_nodes(target), instance))
        return [*steps, *self._setting_up.steps(target)]

    def dry_run_result(self) -> list[str]:
        """The nodes that were chosen (design-2.1, "Dry-run allocation")."""
        return self._home_names

    @property
    def _home_names(self) -> list[str]:
        return [self._target.primary.name, *(node.name for node in self._target.secondaries)]

    async def execute(self) -> list[str]:
        """Make it; the names of the nodes it is on."""
        target, homes = self._target, self._home_names
        if self.op.forthcoming:
            self.info("Instance is forthcoming, not creating disks")
            await self._add(*reserved_only(target.instance, target.disks))
            self.info("Instance is forthcoming; not creating the actual instance")
            return homes
        for index, disk in enumerate(target.disks):
            self.info(f"* disk {index}, size {sizes.shown(disk.size)}")
        self.info("* creating instance disks...")
        await create_disks(self.nodes, target, self.context.steps, renamed(self._plan.disks))
        await wipe_whole(self, target, self._wiped)
        self._target = replace(target, disks=await with_spindles(self.nodes, target))
        if self._reserved is None:
            await self._add(target.instance, self._target.disks)
        else:
            await self._commit(self._reserved)
        if adopted := [target.disks[index].uuid for index in renamed(self._plan.disks)]:
            async with self.step(MARK):
                await mark_disks(self.nodes, target, adopted, self.warn)
        await self._setting_up.run(await self.config.instance_view(target.instance.uuid))  # it has its times from there
        return homes

    async def _add(self, instance: Instance, disks: Sequence[Disk]) -> None:
        self._tell_added()
        async with self.step(ADD, in_config(f"remove instance {self._name}", IConfig.remove_instance, instance.uuid)):
            await self.config.add_instance(instance, disks)

    async def _commit(self, reserved: InstanceView) -> None:
        self._tell_added()
        undo = in_config(
            f"reserve instance {self._name} again", IConfig.replace_instance, reserved.instance, reserved.disks
        )
        async with self.step(COMMIT, undo):
            await self.config.replace_instance(self._target.instance, self._target.disks)

    def _tell_added(self) -> None:
        self.info(f"adding instance {self._name} to cluster config")
        self.info("adding disks to cluster config")
        self.info(f"- INFO: Instance {self._name} has UUID {self._target.instance.uuid}")

    @property
    def _setting_up(self) -> SettingUp:
        return SettingUp(self, self._plan, self._data, self._image)

    async def _make_target(self) -> InstanceView:
        plan = self._plan
        disks = await make_disks(self.config, plan.disks, [node.uuid for node in self._place.homes])
        instance = Instance(
            serial_no=1,
            uuid=await self.config.generate_uuid() if self._reserved is None else self._reserved.instance.uuid,
            name=plan.name,
            primary_node=self._place.primary.uuid,
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
            network_port=await self._port(),
        )
        return view_of(
            instance,
            cluster=self._cluster,
            disks={disk.uuid: disk for disk in disks},
            nodes={node.uuid: node for node in self._place.homes},
            groups={node.group: await self.config.group(node.group) for node in self._place.homes},
            networks={network.uuid: network for network in self._networks.values()},
        )

    async def _port(self) -> int | None:
        """Of its console, if it has one there."""
        if not HYPERVISORS[self._plan.hypervisor].takes_port:
            return None
        kept = None if self._reserved is None else self._reserved.instance.network_port
        return kept or await self.config.allocate_port()

    @property
    def _wiped(self) -> list[int]:
        """The disks that are wiped, if the cluster wants so: not what was there before."""
        adopted = renamed(self._plan.disks)
        return [index for index in to_wipe(self._target) if index not in adopted]
