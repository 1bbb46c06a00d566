"""The seam between the node daemon and a hypervisor."""

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any

import attrs
from zope.interface import Attribute, Interface

from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.model.migration import MigrationProgress, Side
from ganeti_tx.model.nic_link import NicLink


class RunState(IntEnum):
    """What a hypervisor knows of an instance (Ganeti 3.0 node call table, `instance_states`; HALTED is ours).

    @cvar HALTED: it is there, but its hypervisor has stopped it after an error, so that its guest does nothing.
    """

    RUNNING = 0
    SHUTDOWN_BY_USER = 1
    HALTED = 2


@attrs.frozen
class AttachedDisk:
    """A disk that has been made ready on this node; `path` a device or file, `uri` what the hypervisor opens itself."""

    spec: DiskSpec
    path: str
    uri: str | None = None


@attrs.frozen
class InstanceInfo:
    """One instance on this node: memory in MiB, CPU time in seconds; `state` as RunState, and `why` it is halted."""

    name: str
    hv_id: int
    memory: int
    vcpus: int
    state: RunState
    cpu_seconds: float
    why: str = ""


class IHypervisor(Interface):
    """What every hypervisor can do. An instance is known by its name; every method is a coroutine.

    All methods raise HypervisorError with one line that names the instance and says what to do.
    """

    name: str = Attribute("Ganeti's name of it, such as 'kvm'.")

    async def start(instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool = False) -> None:
        """Bring the instance to running (or paused before its first instruction).

        @raise HypervisorError: it is not running, and nothing of it is left behind. Starting one that runs is an error.
        """

    async def stop(instance_name: str, timeout: float, force: bool = False) -> None:
        """Ask the guest to power off and wait up to `timeout` seconds; then, or at once with `force`, cut it off.

        Stopping what is not there succeeds. After it nothing of the instance is left: no process, socket or tap.
        """

    async def reboot(instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> None:
        """Reset the running instance from inside the hypervisor (a "hard" reboot is a stop and a start above this)."""

    async def info(instance_name: str) -> InstanceInfo | None:
        """What runs under this name, or None."""

    async def list_instances() -> list[InstanceInfo]:
        """Everything of this hypervisor on this node."""

    async def node_info() -> Mapping[str, Any]:
        """The keys of the node call table's `hv_info_keys`: memory in MiB, CPU counts."""

    async def verify() -> list[str]:
        """What is wrong with this hypervisor on this node, a line each; empty when it can start instances."""

    async def validate(hvparams: Mapping[str, Any]) -> None:
        """Check filled parameters against this node (paths exist, the program knows them).

        @raise HypervisorError: all faults in one text.
        """

    async def console(instance: InstanceSpec, node_name: str) -> Mapping[str, Any]:
        """How to reach the console, as a wire InstanceConsole (instance, kind, message, host, port, user, ...)."""


class IKeepsState(Interface):
    """A hypervisor that keeps files about its machines, which stay when a machine ends by itself."""

    def kept_names() -> list[str]:
        """The instances of which there are such files, whether they run or not."""


class IPlugs(Interface):
    """A hypervisor that connects the interfaces of its machines on this node."""

    async def check_link(link: NicLink) -> None:
        """@raise HypervisorError: an interface could not be plugged in there, and what to do about it."""


class IKeepsFirmware(Interface):
    """A hypervisor of whose instances something outlives their runs beside their disks (`HypervisorKind.keeps`)."""

    async def forget(instance: InstanceSpec) -> None:
        """Leave nothing of that: the instance is removed."""


class IEndsByItself(Interface):
    """A hypervisor whose machines end without being told to, and leave things then: interfaces, sockets, files."""

    def watch_ends(ended: Callable[[str], None]) -> None:
        """Tell the name of each instance whose machine has ended, from now on; at once of those that have ended already."""

    async def clear_ended(instance_name: str) -> None:
        """Leave nothing of a machine that has ended; one that runs is left alone. @raise HypervisorError: what is left."""


class IHotplug(Interface):
    """A hypervisor that can change the devices of a machine that runs, each of which is known by its uuid.

    What is as it should be already is left alone: each method may be called twice.
    """

    async def check_hotplug(instance: InstanceSpec, disks: bool = False, nics: bool = False) -> None:
        """@raise HypervisorError: it does not run, or why its devices, such disks or such interfaces, cannot be changed."""

    async def plug_disk(instance: InstanceSpec, disk: AttachedDisk) -> None:
        """Give the guest one disk more. @raise HypervisorError: it does not have it."""

    async def unplug_disk(instance: InstanceSpec, disk: DiskSpec) -> None:
        """Take a disk from the guest. @raise HypervisorError: the guest does not let it go, and has it still."""

    async def plug_nic(instance: InstanceSpec, nic: NicSpec, index: int) -> None:
        """Give the guest one network interface more, the one of that place. @raise HypervisorError: it does not have it."""

    async def unplug_nic(instance: InstanceSpec, nic: NicSpec) -> None:
        """Take a network interface from the guest. @raise HypervisorError: the guest does not let it go."""


class IGrows(Interface):
    """A hypervisor whose machines can get more processors and memory while they run, as far as they were started for it.

    Each method may be called twice.
    """

    async def check_growth(instance: InstanceSpec, vcpus: int, memory: int) -> None:
        """@raise HypervisorError: it does not run, or why it cannot come to have so many processors and MiB of memory."""

    async def grow(instance: InstanceSpec, vcpus: int, memory: int) -> None:
        """Let it have them. @raise HypervisorError: it does not."""


class IBalloon(Interface):
    """A hypervisor that can change how much memory a machine that runs has."""

    async def balloon(instance_name: str, memory: int) -> None:
        """Let the machine have so many MiB, and wait for it. @raise HypervisorError: it does not run, or does not obey."""


class IDiskGrowth(Interface):
    """A hypervisor whose guests can see that a disk has grown while they run."""

    async def disk_has_grown(instance_name: str, disk: DiskSpec) -> bool:
        """Tell the guest the size that the disk has now; whether there was a guest to tell.

        @raise HypervisorError: it does not know, and sees the new size when it is started again.
        """


class ILiveMigration(Interface):
    """A hypervisor that brings machines that run to another node, which reaches their disks.

    There is one moment at which a machine passes over: before it, it runs where it was; after it, only where it is going.
    Each method may be called twice.
    """

    async def migration_info(instance: InstanceSpec) -> Mapping[str, Any]:
        """What `accept` must know on the other node. @raise HypervisorError: it does not run, or cannot be migrated."""

    async def accept(
        instance: InstanceSpec, disks: Sequence[AttachedDisk], info: Mapping[str, Any], address: str
    ) -> None:
        """Wait for the machine at one of this node's addresses. @raise HypervisorError: why not; nothing is left then."""

    async def send(instance: InstanceSpec, address: str, live: bool) -> None:
        """Begin to send the machine to who waits at the address; not `live` means that it stands still meanwhile."""

    async def migration_progress(instance_name: str, wait: float = 0.0) -> MigrationProgress:
        """How far that is when it has ended, or after so many seconds. @raise HypervisorError: nothing runs here."""

    async def migration_side(instance_name: str) -> Side | None:
        """What is here of the machine."""

    async def stay_on_source(instance_name: str, target_is_gone: bool) -> None:
        """Stop sending; the machine runs here.

        @raise HypervisorError: all of it was sent, so that it may run elsewhere, unless nothing is there; or it does not run.
        """

    async def leave_source(instance_name: str) -> None:
        """Leave nothing of what was sent. @raise HypervisorError: it runs here."""

    async def take_over(instance_name: str) -> None:
        """Let the machine run that has come. @raise HypervisorError: it has not come."""

    async def refuse(instance_name: str) -> None:
        """Leave nothing of what waits for a machine. @raise HypervisorError: it has run here, and goes on."""
