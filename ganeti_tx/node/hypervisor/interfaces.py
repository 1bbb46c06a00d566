"""The seam between the node daemon and a hypervisor."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from enum import IntEnum
from typing import Any

import attrs
from zope.interface import Attribute, Interface

from ganeti_tx.model.console import ToldConsole
from ganeti_tx.model.guest_interface import GuestInterfaces
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.model.migration import MigrationProgress, Side
from ganeti_tx.model.nic_link import NicLink
from ganeti_tx.runtime.certificates import Identity

#: By an instance's name: while it lasts nobody else does anything with what is here of it.
Alone = Callable[[str], AbstractAsyncContextManager[object]]


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
    """One instance on this node: memory in MiB, CPU time in seconds; `state` as RunState; `why` it is halted, or not reached.

    @ivar uuid: that of the instance for which it was started; '': by an older version, which did not remember it.
    @ivar ended_by: a command of this node that ends it, when it belongs to nobody.
    """

    name: str
    hv_id: int
    memory: int
    vcpus: int
    state: RunState
    cpu_seconds: float
    why: str = ""
    uuid: str = ""
    ended_by: str = ""


@attrs.frozen
class Owner:
    """For which instance a machine was started, and a command of this node that ends it."""

    uuid: str
    ended_by: str


@attrs.frozen
class TlsPair:
    """Who both sides of a migration are: this one's key with its certificate, and the other's certificate with the name in it."""

    own: Identity
    peer: bytes
    peer_name: str


class IHypervisor(Interface):
    """What every hypervisor can do. An instance is known by its name; every method is a coroutine.

    All methods raise HypervisorError with one line that names the instance and says what to do.
    """

    name: str = Attribute("Ganeti's name of it, such as 'kvm'.")

    async def start(instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool = False) -> None:
        """Bring the instance to running (or paused before its first instruction).

        @raise HypervisorError: it is not running, and nothing of it is left behind. Starting one that runs is an error.
        """

    async def stop(instance_name: str, timeout: float, force: bool = False) -> str | None:
        """Ask the guest to power off and wait up to `timeout` seconds; then, or at once with `force`, cut it off.

        Stopping what is not there succeeds. After it nothing of the instance is left: no process, socket or tap.
        What is answered, if anything, is what went wrong with the asking, which whoever stops it is to know.
        """

    async def reboot(instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> str | None:
        """Reset the running instance from inside the hypervisor (a "hard" reboot is a stop and a start above this).

        Answers as `stop` does.
        """

    async def info(instance_name: str) -> InstanceInfo | None:
        """What runs under this name, or None."""

    async def owner(instance_name: str, other_than: str = "") -> Owner | None:
        """The instance for which the machine was started that is here under this name, whatever its state.

        None: there is no machine, or nobody remembers (see `InstanceInfo`), or it would be the instance of the uuid
        `other_than`, which is found out without asking any program whether there is a machine.
        """

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

    async def console(instance: InstanceSpec) -> ToldConsole:
        """How to reach the console."""


class IKeepsState(Interface):
    """A hypervisor that keeps files about its machines, which stay when a machine ends by itself."""

    def kept_names() -> list[str]:
        """The instances of which there are such files, whether they run or not."""


class IChecksStart(Interface):
    """A hypervisor that needs more on a node than an instance's disks and what its parameters name."""

    async def check_start(instance: InstanceSpec) -> None:
        """@raise HypervisorError: it could not be started here, as far as that is seen while its disks are not ready."""


class IPlugs(Interface):
    """A hypervisor that connects the interfaces of its machines on this node."""

    async def check_link(link: NicLink) -> None:
        """@raise HypervisorError: an interface could not be plugged in there, and what to do about it."""


class ITellsInterfaces(Interface):
    """A hypervisor whose machines have interfaces that end on this node."""

    async def interface_to(instance: InstanceSpec, nic: NicSpec) -> str | None:
        """What the node's end of this one is called; None: the machine does not run, or it has no such interface.

        Whatever else there is on the node, it leads to this machine. @raise HypervisorError: the hypervisor does not tell.
        """


class IKeepsFirmware(Interface):
    """A hypervisor of whose instances something outlives their runs beside their disks (`HypervisorKind.keeps`)."""

    def owners() -> Sequence[str]:
        """The uuids of all instances of which there is something."""

    def names(instance: InstanceSpec) -> Sequence[str]:
        """Of all that there is of one, whether it runs or not. @raise HypervisorError: it cannot be read."""

    async def forget(instance: InstanceSpec) -> None:
        """Leave nothing of that: the instance is removed."""

    async def kept(instance: InstanceSpec) -> Mapping[str, bytes]:
        """All of that, by the names of its files, while the instance does not run. @raise HypervisorError: it cannot be read."""

    async def idle(instance: InstanceSpec) -> Mapping[str, bytes]:
        """What of that the machine of an instance that runs does not use. @raise HypervisorError: it does not run, as `kept`."""

    async def keep(instance: InstanceSpec, files: Mapping[str, bytes]) -> None:
        """Have that instead of what is here, before the instance runs. @raise HypervisorError: it is nothing of that kind."""


class IEndsByItself(Interface):
    """A hypervisor whose machines end without being told to, and leave things then: interfaces, sockets, files."""

    def watch_ends(ended: Callable[[str], None]) -> None:
        """Tell the name of each instance whose machine has ended, from now on; at once of those that have ended already."""

    async def clear_ended(instance_name: str) -> None:
        """Leave nothing of a machine that has ended; one that runs is left alone. @raise HypervisorError: what is left."""


class IFreezes(Interface):
    """A hypervisor that can have the file systems of its guests stand still, so that snapshots of their disks are whole."""

    async def freeze(instance_name: str, limit: float) -> str:
        """Let them stand still, for so many seconds at most; why they do not, or nothing: they do."""

    async def thaw(instance_name: str) -> bool:
        """Let them go on; whether they have stood still all the time since `freeze`. It may be called twice.

        @raise HypervisorError: they may still stand still; they are let go as soon as that can be.
        """

    def thaw_all() -> None:
        """Let all guests go on that stood still when this daemon was started."""


class ITellsAddresses(Interface):
    """A hypervisor whose guests can be asked for their addresses."""

    async def guest_interfaces(instance_name: str) -> GuestInterfaces:
        """What the guest says, which nobody should believe. @raise HypervisorError: it says nothing."""


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


class IDiskHolder(Interface):
    """A hypervisor whose machines keep the files of their disks for themselves while they run. All but `holds` are coroutines.

    Disks are known by their paths (`AttachedDisk`). @raise HypervisorError: it cannot be done, and was not.
    """

    def holds(path: str) -> bool:
        """Whether a machine that runs has this disk. Not a coroutine."""

    async def resize_disk(path: str, size: int) -> None:
        """Let a disk, which is an image, have so many bytes; the guest sees it."""

    async def snapshot_disk(path: str, name: str) -> None:
        """Keep the present state of a disk, which is an image, within it under a name."""

    async def drop_snapshot(path: str, name: str) -> None:
        """Forget it."""


class ITellsFormats(Interface):
    """A hypervisor that can be asked as what its machines read their disks."""

    async def disk_formats(instance_name: str) -> Mapping[str, str]:
        """The formats by the uuids of the disks, without those that cannot be told; nothing of what does not run.

        @raise HypervisorError: the machine does not answer.
        """


class ILiveMigration(Interface):
    """A hypervisor that brings machines that run to another node, which reaches their disks.

    There is one moment at which a machine passes over: before it, it runs where it was; after it, only where it is going.
    Each method may be called twice.
    """

    async def migration_info(instance: InstanceSpec) -> Mapping[str, Any]:
        """What `accept` must know on the other node. @raise HypervisorError: it does not run, or cannot be migrated."""

    async def accept(
        instance: InstanceSpec,
        disks: Sequence[AttachedDisk],
        info: Mapping[str, Any],
        address: str,
        tls: TlsPair | None = None,
        disks_come: bool = False,
        source: str = "",
    ) -> None:
        """Wait for the machine at one of this node's addresses, and take it from nobody but the other one of the pair.

        @param tls: None: by whatever the hypervisor knows other nodes.
        @param disks_come: whether what is on the disks comes from its old node, too; see `copying_interface`.
        @param source: the old node's address, so that others may be kept away; '': it is not known.
        @raise HypervisorError: why not; nothing is left then.
        """

    async def send(
        instance: InstanceSpec,
        address: str,
        live: bool,
        tls: TlsPair | None = None,
        source: str = "",
        told: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin to send the machine to who waits at the address, if it is the other one of the pair.

        @param live: whether the machine runs meanwhile.
        @param source: this node's address as `accept` was told.
        @param told: what `accept` was told of the machine; None: it is not known.
        @raise HypervisorError: why not, such as that its guest was stopped since.
        """

    async def migration_progress(instance_name: str, wait: float = 0.0) -> MigrationProgress:
        """How far that is when it has ended, or in so long; there, why it has not come. @raise HypervisorError: none runs."""

    async def migration_side(instance_name: str) -> Side | None:
        """What is here of the machine."""

    async def stay_on_source(instance_name: str, target_is_gone: bool) -> None:
        """Stop sending; the machine runs here.

        @raise HypervisorError: all of it was sent, so that it may run elsewhere, unless nothing is there; or it does not run.
        """

    async def leave_source(instance_name: str, target_is_gone: bool = False) -> None:
        """Leave nothing of what was sent.

        @raise HypervisorError: it runs here, or the other node still fetches memory from here, unless nothing is there.
        """

    async def take_over(instance_name: str) -> None:
        """Let the machine run that has come, and be reached; what runs here, and is reached, is left alone.

        @raise HypervisorError: it has not come; or it runs, and is not reached.
        """

    async def refuse(instance_name: str, goes_on_elsewhere: bool = False) -> None:
        """Leave nothing of what waits for a machine.

        @param goes_on_elsewhere: whether the old node has said that the machine is there and goes on, so that none has come which
            nobody has been told of: what waited, and cannot be asked, is ended then.
        @raise HypervisorError: it has run here, and goes on; or it may have.
        """


class IListensForMachines(Interface):
    """A hypervisor whose machines from other nodes come over connections that this daemon takes."""

    def listen_again(alone: Alone) -> None:
        """Where a daemon listened that has ended. @param alone: in which machines are taken, there and from now on."""


class IPostcopy(Interface):
    """A hypervisor that can run a machine on its new node before all of its memory is there.

    While it does, neither node has the whole machine: what is lost of either is lost for good. A connection that is lost can be
    made anew; the machine waits wherever it misses memory.
    """

    async def accept_again(instance: InstanceSpec, address: str) -> None:
        """Wait at the address for the rest of a machine that runs here. @raise HypervisorError: its connection is not lost."""

    async def send_again(instance: InstanceSpec, address: str) -> None:
        """Go on sending the rest. @raise HypervisorError: the connection is not lost, or nobody waits."""
