"""Instances under QEMU: planned, started standing still, made ready over QMP, let go; and stopped so that nothing is left."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import attrs
import msgspec
from attrs import define
from twisted.internet.defer import Deferred
from twisted.logger import Logger
from zope.interface import implementer

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import DEFAULT_PROGRAM, find_program, no_program
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.model.nic_link import NicLink
from ganeti_tx.node.hypervisor.host import read_host_facts
from ganeti_tx.node.hypervisor.interfaces import (
    AttachedDisk,
    IBalloon,
    IDiskGrowth,
    IEndsByItself,
    IHotplug,
    IHypervisor,
    IKeepsFirmware,
    IKeepsState,
    InstanceInfo,
    IPlugs,
    RunState,
)
from ganeti_tx.node.hypervisor.kvm import state as states
from ganeti_tx.node.hypervisor.kvm.acceleration import AccelerationProbe
from ganeti_tx.node.hypervisor.kvm.balloon import balloon, balloon_size
from ganeti_tx.node.hypervisor.kvm.command.build import planned_machine, qemu_argv
from ganeti_tx.node.hypervisor.kvm.command.disks import disk_id
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.kvm.consoles import console_of
from ganeti_tx.node.hypervisor.kvm.control_group import ControlGroup
from ganeti_tx.node.hypervisor.kvm.disk_growth import tell_growth
from ganeti_tx.node.hypervisor.kvm.ending import HALTED, POWERED_OFF, Ending
from ganeti_tx.node.hypervisor.kvm.ends import Ends
from ganeti_tx.node.hypervisor.kvm.firmware import Firmware
from ganeti_tx.node.hypervisor.kvm.hotplug.disks import DiskPlug
from ganeti_tx.node.hypervisor.kvm.hotplug.nics import NicPlug, tap_options
from ganeti_tx.node.hypervisor.kvm.hotplug.offers import NEEDED, check_commands, check_disks, check_nics
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout, instance_layout
from ganeti_tx.node.hypervisor.kvm.machine_type import machine_type
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.network import Network
from ganeti_tx.node.hypervisor.kvm.nic_files import name_taps
from ganeti_tx.node.hypervisor.kvm.on_this_node import OnThisNode
from ganeti_tx.node.hypervisor.kvm.parameters import faults, kvm_params
from ganeti_tx.node.hypervisor.kvm.pinning import pin
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.node.hypervisor.kvm.remains import Remains
from ganeti_tx.node.hypervisor.kvm.running import RunningInstance
from ganeti_tx.node.hypervisor.kvm.secrets import set_passwords
from ganeti_tx.node.hypervisor.kvm.state import DiskState, InstanceRuntime
from ganeti_tx.node.hypervisor.kvm.tpm import SoftwareTpm
from ganeti_tx.node.hypervisor.kvm.uid_pool import UidPool
from ganeti_tx.node.hypervisor.kvm.users import user_of
from ganeti_tx.node.hypervisor.kvm.version import QemuVersion
from ganeti_tx.node.hypervisor.live import not_running
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner

log = Logger()

#: Seconds until QEMU is in the background, on a node that has much else to do.
START_LIMIT = 180.0
INFO_LIMIT = 5.0
DIRECTORY_MODE = 0o750
MAX_LOG = 1 << 20
#: What QEMU says of a URL, or another address, that one of its modules reads which is not there.
NO_BLOCK_DRIVER = "Unknown protocol"


@implementer(IDiskGrowth, IHypervisor, IKeepsState, IPlugs, IHotplug, IBalloon, IEndsByItself, IKeepsFirmware)
@define
class KvmHypervisor:
    """Everything is found again from the node's run directory, so the daemon may be restarted at any time."""

    paths: Paths
    files: IFiles
    runner: IProcessRunner
    monitors: Monitors
    processes: IQemuProcesses
    probe: AccelerationProbe
    network: Network
    uids: UidPool
    remains: Remains
    ending: Ending
    ends: Ends
    tpm: SoftwareTpm
    firmware: Firmware
    group: ControlGroup
    here: OnThisNode
    disks: DiskPlug
    nics: NicPlug
    version: QemuVersion
    name: str = "kvm"

    # Starting

    async def start(self, instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool = False) -> None:
        """As IHypervisor says."""
        layout = instance_layout(self.paths, instance.name)
        if self.ending.pid_of_living(layout) is not None:
            raise HypervisorError(f"instance {instance.name} runs already")
        await self.remains.clear(layout, states.load(self.files, layout))
        with naming(instance.name):
            plan = await self._plan(instance, disks, layout)
            with user_of(self.uids, plan.params) as run_as:
                await self._bring_up(attrs.evolve(plan, run_as=run_as), paused, nothing_more)

    async def _plan(self, spec: InstanceSpec, disks: Sequence[AttachedDisk], layout: InstanceLayout) -> QemuPlan:
        params = await self.here.settled(kvm_params(spec.hvparams))
        if wrong := faults(params, self.files.exists):
            raise HypervisorError("; ".join(wrong))
        acceleration = await self.probe.choose(params.kvm_path, params.kvm_flag)
        nics = await self.network.plan(spec)
        plan = QemuPlan(spec, params, disks, nics, layout, acceleration)
        self.group.check(plan)
        qemu_argv(plan)  # what cannot be written down fails here, before a user id is taken
        return plan

    async def _bring_up(self, plan: QemuPlan, paused: bool, also: Callable[[QemuPlan], Awaitable[None]]) -> None:
        """From a plan to an instance that runs and with which something else has been done, or to nothing."""
        state = planned_state(plan)
        started = False
        try:
            await self._launch(plan, state)
            await self._make_ready(plan, state, paused)
            await also(plan)
            started = True
        finally:
            if not started:
                await self.ending.end(plan.files, state)
        self.ends.watch(plan.files)

    async def _launch(self, plan: QemuPlan, state: InstanceRuntime) -> None:
        for directory in plan.files.directories:
            self.files.mkdir(directory, DIRECTORY_MODE)
        if plan.params.use_chroot:
            self.files.mkdir(plan.files.chroot, 0o700)
        await states.save(self.files, plan.files, state)
        options = tap_options(plan.params, plan.run_as.partition(":")[0])
        await self.network.connect(plan.nics, options, incoming=plan.incoming)
        await name_taps(self.files, plan.files, plan.nics)
        await self.firmware.prepare(plan)
        if plan.params.tpm:
            await self.tpm.start(plan.files, plan.spec.uuid)
        said_before = len(self._log(plan.files))
        result = await self.runner.run(self.group.command(plan, state.argv), timeout=START_LIMIT)
        if not result.succeeded:
            # On its way to the background QEMU turns from stderr to its log.
            lines = self._log(plan.files)[said_before:].decode("utf-8", "replace").strip().splitlines()
            reason = f"{result.describe()}: {lines[-1][:500]}" if lines else result.describe()
            hint = "; install qemu-block-extra" if NO_BLOCK_DRIVER in reason else ""
            raise HypervisorError(f"QEMU did not start: {reason}{hint}")
        if (pid := self.ending.pid_of_living(plan.files)) is not None:
            self.group.enter(plan, pid)

    def _log(self, layout: InstanceLayout) -> bytes:
        """What QEMU said in the background; nothing when that is not there or very much."""
        try:
            return self.files.read(layout.log, MAX_LOG)
        except OSError:
            return b""

    async def _make_ready(self, plan: QemuPlan, state: InstanceRuntime, paused: bool) -> None:
        async with self.monitors.open(plan.files.qmp) as client:
            known = msgspec.structs.replace(state, machine=await machine_type(client))
            await states.save(self.files, plan.files, known)
            await set_passwords(self.files, plan.params, client)
            await self._pin(plan.files, client, plan.params.cpu_mask, plan.vcpus)
            if not paused:
                await client.execute("cont")

    async def _pin(self, layout: InstanceLayout, client: QmpClient, cpu_mask: str, vcpus: int) -> None:
        if (pid := self.ending.pid_of_living(layout)) is not None:
            await pin(self.processes, client, pid, cpu_mask, vcpus)

    # Stopping

    async def stop(self, instance_name: str, timeout: float, force: bool = False) -> None:
        """As IHypervisor says."""
        layout = instance_layout(self.paths, instance_name)
        await self.ending.stop(layout, states.load(self.files, layout), timeout, force)

    async def reboot(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> None:
        """As IHypervisor says; an instance that ends on reboot is started anew."""
        layout = instance_layout(self.paths, instance.name)
        state = states.load(self.files, layout)
        if self.ending.pid_of_living(layout) is None:
            raise HypervisorError(f"instance {instance.name} does not run")
        if state is not None and state.exits_on_reboot:
            await self.stop(instance.name, 0.0, force=True)
            kept = {"machine_version": state.machine} if state.machine else {}
            await self.start(msgspec.structs.replace(instance, hvparams={**instance.hvparams, **kept}), disks)
            return
        async with self.monitors.open(layout.qmp) as client:
            with naming(instance.name):
                await client.execute("system_reset")
            await client.execute("cont")  # a guest that had powered itself off stands still

    async def disk_has_grown(self, instance_name: str, disk: DiskSpec) -> bool:
        """As IDiskGrowth says."""
        layout = instance_layout(self.paths, instance_name)
        if self.ending.pid_of_living(layout) is None:
            return False
        async with self.monitors.open(layout.qmp) as client:
            with naming(instance_name):
                await tell_growth(client, instance_name, disk)
        return True

    def watch_ends(self, ended: Callable[[str], None]) -> None:
        """As IEndsByItself says."""
        self.ends.begin(ended, [instance_layout(self.paths, name) for name in self.kept_names()])

    async def clear_ended(self, instance_name: str) -> None:
        """As IEndsByItself says."""
        layout = instance_layout(self.paths, instance_name)
        state = states.load(self.files, layout)
        if state is not None and self.ending.pid_of_living(layout) is None:
            await self.remains.clear(layout, state)

    async def forget(self, instance: InstanceSpec) -> None:
        """As IKeepsFirmware says."""
        self.firmware.forget(instance.uuid)

    # Looking

    async def info(self, instance_name: str) -> InstanceInfo | None:
        """As IHypervisor says."""
        layout = instance_layout(self.paths, instance_name)
        pid = self.ending.pid_of_living(layout)
        state = states.load(self.files, layout)
        if pid is None or state is None:
            return None
        status, memory = await self._ask(layout, state)
        run_state = run_state_of(status)
        why = status if run_state is RunState.HALTED else ""
        return InstanceInfo(instance_name, pid, memory, state.vcpus, run_state, self.processes.cpu_seconds(pid), why)

    async def _ask(self, layout: InstanceLayout, state: InstanceRuntime) -> tuple[str, int]:
        """QEMU's run state, and the memory in MiB that the guest has now; a QEMU that hangs still runs."""
        try:
            async with self.monitors.open(layout.qmp) as client:
                answer = await client.execute("query-status", timeout=INFO_LIMIT)
                memory = await balloon_size(client)
        except HypervisorError as error:
            log.warn("instance {name}: {error}", name=layout.name, error=error)
            return "unknown", state.memory
        return str(answer["status"]), memory or state.memory

    def kept_names(self) -> list[str]:
        """As IKeepsState says."""
        return states.saved_names(self.files, self.paths)

    async def list_instances(self) -> list[InstanceInfo]:
        """As IHypervisor says; all instances are asked at the same time."""
        asking = [Deferred.fromCoroutine(self._listed(name)) for name in self.kept_names()]
        found = [await each for each in asking]
        return [each for each in found if each is not None]

    async def _listed(self, instance_name: str) -> InstanceInfo | None:
        """One instance that cannot be looked at hides no other."""
        try:
            return await self.info(instance_name)
        except HypervisorError as error:
            log.error("{error}", error=error)
            return None

    async def node_info(self) -> Mapping[str, Any]:
        """As IHypervisor says."""
        return read_host_facts(self.files).as_hv_info(await self.version.told())

    async def verify(self) -> list[str]:
        """As IHypervisor says."""
        program = find_program(DEFAULT_PROGRAM, self.files.exists)
        if program is None:
            return [no_program(DEFAULT_PROGRAM)]
        if not await self.version.told():
            return [f"{program} does not run"]
        return []

    async def validate(self, hvparams: Mapping[str, Any]) -> None:
        """As IHypervisor says."""
        if wrong := faults(kvm_params(hvparams), self.files.exists):
            raise HypervisorError("; ".join(wrong))

    async def check_link(self, link: NicLink) -> None:
        """As IPlugs says."""
        await self.network.ends.check_link(link)

    async def console(self, instance: InstanceSpec, node_name: str) -> Mapping[str, Any]:
        """As IHypervisor says."""
        state = states.load(self.files, instance_layout(self.paths, instance.name))
        if state is None or (params := state.params) is None:  # what runs is as it was started
            params = await self.here.settled(kvm_params(instance.hvparams))
        return console_of(instance, params, instance_layout(self.paths, instance.name), node_name)

    # Changing what runs

    @asynccontextmanager
    async def _running(self, instance_name: str) -> AsyncIterator[RunningInstance]:
        """The instance, as long as something of it is changed. @raise HypervisorError: it does not run."""
        layout = instance_layout(self.paths, instance_name)
        state = states.load(self.files, layout)
        if self.ending.pid_of_living(layout) is None:
            raise not_running(instance_name)
        if state is None:
            raise HypervisorError(f"instance {instance_name}: {layout.runtime} is missing; stop it and start it again")
        with naming(instance_name):
            async with self.monitors.open(layout.qmp) as client:
                yield RunningInstance(self.files, layout, state, client)

    async def check_hotplug(self, instance: InstanceSpec, disks: bool = False, nics: bool = False) -> None:
        """As IHotplug says."""
        async with self._running(instance.name) as machine:
            await check_commands(machine.client, NEEDED)
            if disks:
                await check_disks(machine.client, machine.params(instance))
            if nics:
                await check_nics(machine.client, machine.params(instance))

    async def plug_disk(self, instance: InstanceSpec, disk: AttachedDisk) -> None:
        """As IHotplug says."""
        async with self._running(instance.name) as machine:
            await self.disks.plug(machine, instance, disk)

    async def unplug_disk(self, instance: InstanceSpec, disk: DiskSpec) -> None:
        """As IHotplug says."""
        async with self._running(instance.name) as machine:
            await self.disks.unplug(machine, disk.uuid)

    async def plug_nic(self, instance: InstanceSpec, nic: NicSpec, index: int) -> None:
        """As IHotplug says."""
        async with self._running(instance.name) as machine:
            await self.nics.plug(machine, instance, nic, index)

    async def unplug_nic(self, instance: InstanceSpec, nic: NicSpec) -> None:
        """As IHotplug says."""
        async with self._running(instance.name) as machine:
            await self.nics.unplug(machine, nic.uuid)

    async def balloon(self, instance_name: str, memory: int) -> None:
        """As IBalloon says."""
        async with self._running(instance_name) as machine:
            await balloon(machine, memory)


def run_state_of(status: str) -> RunState:
    """What one of QEMU's run states is to the cluster."""
    if status in HALTED:
        return RunState.HALTED
    return RunState.SHUTDOWN_BY_USER if status in POWERED_OFF else RunState.RUNNING


async def nothing_more(plan: QemuPlan) -> None:
    """What is done with an instance that is only started."""


def planned_state(plan: QemuPlan) -> InstanceRuntime:
    """What is remembered of an instance from just before its start."""
    uid = plan.run_as.partition(":")[0]
    machine = planned_machine(plan)
    return InstanceRuntime(
        name=plan.spec.name,
        uuid=plan.spec.uuid,
        memory=plan.memory,
        vcpus=plan.vcpus,
        acceleration=plan.acceleration.value,
        argv=machine.argv,
        exits_on_reboot=plan.params.reboot_behavior == "exit",
        uid=int(uid) if plan.params.security_model == "pool" else None,
        nics=list(plan.nics),
        disks=[DiskState(uuid=disk.spec.uuid, device=disk_id(disk.spec.uuid), source=disk.path) for disk in plan.disks],
        dimms=list(plan.dimms),
        params=plan.params,
        places=machine.places,
    )
