"""Instances under QEMU: planned, started standing still, made ready over QMP, let go; and stopped so that nothing is left."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs
from attrs import define
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from zope.interface import implementer

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import DEFAULT_PROGRAM, KvmParams, find_program, no_program
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.node.hypervisor.host import read_host_facts
from ganeti_tx.node.hypervisor.interfaces import (
    AttachedDisk,
    IDiskGrowth,
    IHypervisor,
    IKeepsState,
    InstanceInfo,
    RunState,
)
from ganeti_tx.node.hypervisor.kvm import state as states
from ganeti_tx.node.hypervisor.kvm.acceleration import AccelerationProbe
from ganeti_tx.node.hypervisor.kvm.affinity import masks_for
from ganeti_tx.node.hypervisor.kvm.command.build import planned_machine, qemu_argv
from ganeti_tx.node.hypervisor.kvm.command.disks import disk_id
from ganeti_tx.node.hypervisor.kvm.command.plan import QemuPlan
from ganeti_tx.node.hypervisor.kvm.consoles import console_of
from ganeti_tx.node.hypervisor.kvm.disk_growth import tell_growth
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout, instance_layout
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.network import Network, TapOptions
from ganeti_tx.node.hypervisor.kvm.parameters import faults, kvm_params, with_program
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient, QmpError, QmpLost
from ganeti_tx.node.hypervisor.kvm.remains import Remains
from ganeti_tx.node.hypervisor.kvm.secrets import set_passwords
from ganeti_tx.node.hypervisor.kvm.state import DiskState, InstanceRuntime
from ganeti_tx.node.hypervisor.kvm.uid_pool import UidPool
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner

log = Logger()

#: Seconds until QEMU is in the background, until it has quit when told to, and until a killed one is gone.
START_LIMIT = 60.0
QUIT_LIMIT = 5.0
KILL_LIMIT = 30.0
#: Seconds after which the power button is pressed again.
BUTTON_INTERVAL = 5.0
PAUSE = 0.5
INFO_LIMIT = 5.0
DIRECTORY_MODE = 0o750
MAX_PID_FILE = 100
MAX_LOG = 1 << 20
#: Run states of QEMU in which the guest has powered itself off.
POWERED_OFF = frozenset({"shutdown"})
#: Run states in which no guest is there to react to the power button: powered off already, never let go, or stuck for good.
NEVER_REACTS = POWERED_OFF | {"prelaunch", "internal-error"}
_VERSION = re.compile(r"version (\d+(?:\.\d+)*)")


@implementer(IDiskGrowth, IHypervisor, IKeepsState)
@define
class KvmHypervisor:
    """Everything is found again from the node's run directory, so the daemon may be restarted at any time."""

    paths: Paths
    files: IFiles
    runner: IProcessRunner
    clock: IReactorTime
    monitors: Monitors
    processes: IQemuProcesses
    probe: AccelerationProbe
    network: Network
    uids: UidPool
    remains: Remains
    name: str = "kvm"
    _version: str = ""

    # Starting

    async def start(self, instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool = False) -> None:
        """As IHypervisor says."""
        layout = instance_layout(self.paths, instance.name)
        if self._pid_of_living(layout) is not None:
            raise HypervisorError(f"instance {instance.name} runs already")
        await self.remains.clear(layout, states.load(self.files, layout))
        with naming(instance.name):
            plan = await self._plan(instance, disks, layout)
            with self._user(plan.params) as run_as:
                await self._bring_up(attrs.evolve(plan, run_as=run_as), paused)

    async def _plan(self, spec: InstanceSpec, disks: Sequence[AttachedDisk], layout: InstanceLayout) -> QemuPlan:
        params = with_program(kvm_params(spec.hvparams), self.files.exists)
        if wrong := faults(params, self.files.exists):
            raise HypervisorError("; ".join(wrong))
        acceleration = await self.probe.choose(params.kvm_path, params.kvm_flag)
        nics = await self.network.plan(spec)
        plan = QemuPlan(spec, params, disks, nics, layout, acceleration)
        qemu_argv(plan)  # what cannot be written down fails here, before a user id is taken
        return plan

    @contextmanager
    def _user(self, params: KvmParams) -> Iterator[str]:
        """Whom QEMU becomes: nobody else, a named user, or an id of the pool, which is kept from others meanwhile."""
        if params.security_model == "pool":
            with self.uids.lent() as uid:
                yield f"{uid}:{uid}"
        else:
            yield params.security_domain if params.security_model == "user" else ""

    async def _bring_up(self, plan: QemuPlan, paused: bool) -> None:
        """From a plan to an instance that runs, or to nothing."""
        state = planned_state(plan)
        started = False
        try:
            await self._launch(plan, state)
            await self._make_ready(plan, paused)
            started = True
        finally:
            if not started:
                await self._end(plan.files, state)

    async def _launch(self, plan: QemuPlan, state: InstanceRuntime) -> None:
        for directory in plan.files.directories:
            self.files.mkdir(directory, DIRECTORY_MODE)
        if plan.params.use_chroot:
            self.files.mkdir(plan.files.chroot, 0o700)
        await states.save(self.files, plan.files, state)
        await self.network.connect(plan.spec, plan.nics, tap_options(plan))
        await self._name_taps(plan)
        said_before = len(self._log(plan.files))
        result = await self.runner.run(state.argv, timeout=START_LIMIT)
        if not result.succeeded:
            # On its way to the background QEMU turns from stderr to its log.
            lines = self._log(plan.files)[said_before:].decode("utf-8", "replace").strip().splitlines()
            reason = f"{result.describe()}: {lines[-1][:500]}" if lines else result.describe()
            raise HypervisorError(f"QEMU did not start: {reason}")

    def _log(self, layout: InstanceLayout) -> bytes:
        """What QEMU said in the background; nothing when that is not there or very much."""
        try:
            return self.files.read(layout.log, MAX_LOG)
        except OSError:
            return b""

    async def _name_taps(self, plan: QemuPlan) -> None:
        """For administrators' scripts: which tap is which interface."""
        for place, nic in enumerate(plan.nics):
            if nic.tap:
                self.files.mkdir(plan.files.nic_dir, DIRECTORY_MODE)
                await self.files.write_atomic(plan.files.nic_dir / str(place), nic.tap.encode(), sync=False)

    async def _make_ready(self, plan: QemuPlan, paused: bool) -> None:
        async with self.monitors.open(plan.files.qmp) as client:
            await set_passwords(self.files, plan.params, client)
            await self._pin(plan, client)
            if not paused:
                await client.execute("cont")

    async def _pin(self, plan: QemuPlan, client: QmpClient) -> None:
        try:
            masks = masks_for(plan.params.cpu_mask, plan.vcpus)
        except ValueError as error:
            raise HypervisorError(f"cpu_mask: {error}")
        if all(mask is None for mask in masks):
            return
        for cpu, mask in zip(await client.execute("query-cpus-fast"), masks, strict=False):
            if mask is not None:
                try:
                    self.processes.pin(int(cpu["thread-id"]), mask)
                except OSError as error:
                    raise HypervisorError(f"cpu_mask {plan.params.cpu_mask}: {error.strerror}")

    # Stopping

    async def stop(self, instance_name: str, timeout: float, force: bool = False) -> None:
        """As IHypervisor says."""
        layout = instance_layout(self.paths, instance_name)
        state = states.load(self.files, layout)
        pid = self._pid_of_living(layout)
        if pid is not None and not force:
            await self._ask_to_power_off(layout, pid, timeout)
        await self._end(layout, state)

    async def _ask_to_power_off(self, layout: InstanceLayout, pid: int, timeout: float) -> None:
        """Press the power button until the guest has shut down, or the time is over; one that boots does not hear it yet."""
        deadline = self.clock.seconds() + timeout
        while (left := deadline - self.clock.seconds()) > 0:
            try:
                async with self.monitors.open(layout.qmp) as client:
                    if (await client.execute("query-status"))["status"] not in NEVER_REACTS:
                        await press_power_button(client, min(left, BUTTON_INTERVAL))
                return
            except QmpLost:
                await self._wait_for_end(layout, pid, QUIT_LIMIT)
                return
            except HypervisorError as error:
                log.debug("instance {name}: {error}", name=layout.name, error=error)
                await deferLater(self.clock, min(left, PAUSE))
        log.info("instance {name} did not power off within {limit} s", name=layout.name, limit=timeout)

    async def _end(self, layout: InstanceLayout, state: InstanceRuntime | None) -> None:
        """Cut the instance off if it still runs, and clear away what it leaves."""
        pid = self._pid_of_living(layout)
        if pid is not None:
            await self._quit(layout, pid)
        pid = self._pid_of_living(layout)
        if pid is not None:
            self.processes.kill(pid, layout.pid)
            if not await self._wait_for_end(layout, pid, KILL_LIMIT):
                raise HypervisorError(f"instance {layout.name}: its QEMU (process {pid}) cannot be killed; see dmesg")
        await self.remains.clear(layout, state)

    async def _quit(self, layout: InstanceLayout, pid: int) -> None:
        try:
            async with self.monitors.open(layout.qmp) as client:
                await client.execute("quit", timeout=QUIT_LIMIT)
        except QmpLost:
            pass  # it is ending already, and may still be writing to its disks
        except HypervisorError:
            return  # it hangs: the kernel will be asked
        await self._wait_for_end(layout, pid, QUIT_LIMIT)

    async def _wait_for_end(self, layout: InstanceLayout, pid: int, limit: float) -> bool:
        ended: Deferred[None] = self.processes.when_ended(pid, layout.pid)
        ended.addTimeout(limit, self.clock)
        try:
            await ended
        except TimeoutError:
            return False
        return True

    async def reboot(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> None:
        """As IHypervisor says; an instance that ends on reboot is started anew."""
        layout = instance_layout(self.paths, instance.name)
        state = states.load(self.files, layout)
        if self._pid_of_living(layout) is None:
            raise HypervisorError(f"instance {instance.name} does not run")
        if state is not None and state.exits_on_reboot:
            await self.stop(instance.name, 0.0, force=True)
            await self.start(instance, disks)
            return
        async with self.monitors.open(layout.qmp) as client:
            with naming(instance.name):
                await client.execute("system_reset")
            await client.execute("cont")  # a guest that had powered itself off stands still

    async def disk_has_grown(self, instance_name: str, disk: DiskSpec) -> bool:
        """As IDiskGrowth says."""
        layout = instance_layout(self.paths, instance_name)
        if self._pid_of_living(layout) is None:
            return False
        async with self.monitors.open(layout.qmp) as client:
            with naming(instance_name):
                await tell_growth(client, instance_name, disk)
        return True

    # Looking

    async def info(self, instance_name: str) -> InstanceInfo | None:
        """As IHypervisor says."""
        layout = instance_layout(self.paths, instance_name)
        pid = self._pid_of_living(layout)
        state = states.load(self.files, layout)
        if pid is None or state is None:
            return None
        status, memory = await self._ask(layout, state)
        run_state = RunState.SHUTDOWN_BY_USER if status in POWERED_OFF else RunState.RUNNING
        return InstanceInfo(instance_name, pid, memory, state.vcpus, run_state, self.processes.cpu_seconds(pid))

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
        return read_host_facts(self.files).as_hv_info(await self._qemu_version())

    async def _qemu_version(self) -> str:
        """Of the program of the built-in parameters; empty when there is none."""
        if not self._version:
            program = find_program(DEFAULT_PROGRAM, self.files.exists) or DEFAULT_PROGRAM
            result = await self.runner.run([program, "--version"], timeout=INFO_LIMIT)
            found = _VERSION.search(result.stdout.decode("utf-8", "replace"))
            self._version = found[1] if result.succeeded and found else ""
        return self._version

    async def verify(self) -> list[str]:
        """As IHypervisor says."""
        program = find_program(DEFAULT_PROGRAM, self.files.exists)
        if program is None:
            return [no_program(DEFAULT_PROGRAM)]
        if not await self._qemu_version():
            return [f"{program} does not run"]
        return []

    async def validate(self, hvparams: Mapping[str, Any]) -> None:
        """As IHypervisor says."""
        if wrong := faults(kvm_params(hvparams), self.files.exists):
            raise HypervisorError("; ".join(wrong))

    async def console(self, instance: InstanceSpec, node_name: str) -> Mapping[str, Any]:
        """As IHypervisor says."""
        params = kvm_params(instance.hvparams)
        return console_of(instance, params, instance_layout(self.paths, instance.name), node_name)

    def _pid_of_living(self, layout: InstanceLayout) -> int | None:
        """The instance's process, when there is one."""
        try:
            text = self.files.read(layout.pid, MAX_PID_FILE).decode("ascii").strip()
        except (FileNotFoundError, UnicodeDecodeError):
            return None
        if not text.isdigit() or not self.processes.is_alive(int(text), layout.pid):
            return None
        return int(text)


@contextmanager
def naming(instance_name: str) -> Iterator[None]:
    """Let errors from below tell of which instance they are."""
    try:
        yield
    except HypervisorError as error:
        if instance_name in str(error):
            raise
        raise HypervisorError(f"instance {instance_name}: {error}") from error


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
        params=plan.params,
        places=machine.places,
    )


def tap_options(plan: QemuPlan) -> TapOptions:
    """How the plan's taps are made."""
    paravirtual = plan.params.nic_type == "paravirtual"
    return TapOptions(
        vnet_hdr=paravirtual and plan.params.vnet_hdr,
        multi_queue=paravirtual and plan.params.virtio_net_queues > 1,
        owner=plan.run_as.partition(":")[0],
    )


async def press_power_button(client: QmpClient, timeout: float) -> None:
    """Wait until the guest has powered off. @raise HypervisorError: not within `timeout` seconds."""
    powered_off = client.next_event("SHUTDOWN", timeout)
    try:
        await client.execute("system_powerdown")
        await powered_off
    finally:
        powered_off.addErrback(lambda _: None)  # when the button cannot be pressed, nobody waits for this
        powered_off.cancel()


async def balloon_size(client: QmpClient) -> int | None:
    """The guest's memory in MiB; None when it has no balloon."""
    try:
        answer = await client.execute("query-balloon", timeout=INFO_LIMIT)
    except QmpError:
        return None
    return int(answer["actual"]) // (1024 * 1024)
