"""What a node remembers of its instances, so that a restarted daemon knows what runs and what to clean up."""

from collections.abc import Mapping, Sequence

import msgspec

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.layout import InstanceLayout
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

#: An instance with all its disks and interfaces stays far below this.
LIMIT = 1 << 20
ENDING = ".runtime"


class NicState(msgspec.Struct, frozen=True, kw_only=True):
    """One network interface as it was connected; an empty `tap` means QEMU's own network stack.

    @ivar environment: what scripts were told of it (none: it was connected by an older version).
    """

    uuid: str
    mac: str
    mode: str
    link: str
    vlan: str = ""
    tap: str = ""
    restricted: bool = True
    environment: Mapping[str, str] = {}


class DiskState(msgspec.Struct, frozen=True, kw_only=True):
    """One disk as it was attached; `device` is its id in QEMU."""

    uuid: str
    device: str
    source: str


class Awaited(msgspec.Struct, frozen=True, kw_only=True):
    """At which of this node's addresses a machine is waited for, and from which one it comes."""

    address: str
    port: int
    source: str


class InstanceRuntime(msgspec.Struct, frozen=True, kw_only=True):
    """One instance from just before its start until everything of it is gone; memory in MiB. Holds no secret.

    @ivar dimms: of the memory, what came while it ran: the MiB of each module.
    @ivar pid: its process, once it is known, for when the pid file is lost (none: it was started by an older version).
    @ivar machine: QEMU's type of it with its version, once it is known.
    @ivar params: what it was started with, which holds as long as it runs (none: by an older version).
    @ivar stopped: whether its guest had been stopped by somebody when it was last sent from here, or its disks were begun to be
        copied, or when it was made to come here.
    @ivar waits: whether it was made for a machine from another node, of which nobody has said that it has come.
    @ivar unreached: whether its routed interfaces are yet to be connected, as they are when it has come.
    @ivar awaited: where the daemon waits for that machine's connection (none: QEMU does, or it has come).
    @ivar places: where devices are that come and go, by their ids in QEMU; of one that went, where it was.
    """

    name: str
    uuid: str
    memory: int
    vcpus: int
    acceleration: str
    argv: Sequence[str]
    exits_on_reboot: bool = False
    uid: int | None = None  # taken from the pool for this instance
    nics: Sequence[NicState] = ()
    disks: Sequence[DiskState] = ()
    dimms: Sequence[int] = ()
    pid: int | None = None
    machine: str = ""
    params: KvmParams | None = None
    places: Mapping[str, Mapping[str, str | int]] = {}
    stopped: bool = False
    waits: bool = False
    unreached: bool = False
    awaited: Awaited | None = None


async def save(files: IFiles, layout: InstanceLayout, state: InstanceRuntime) -> None:
    """Keep the state over a restart of the daemon (it need not outlast the node)."""
    await files.write_atomic(layout.runtime, msgspec.json.encode(state), 0o600, sync=False)


def load(files: IFiles, layout: InstanceLayout) -> InstanceRuntime | None:
    """The state, or None. @raise HypervisorError: there is one and it cannot be read."""
    try:
        return msgspec.json.decode(files.read(layout.runtime, LIMIT), type=InstanceRuntime)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise HypervisorError(
            f"instance {layout.name}: cannot read {layout.runtime}, which it needs ({error});"
            f" a stop and a start make it anew: 'gnt-instance reboot --type=hard {layout.name}'"
        )


def saved_names(files: IFiles, paths: Paths) -> list[str]:
    """The names of all instances that have a state."""
    try:
        entries = files.listdir(paths.kvm_conf_dir)
    except FileNotFoundError:
        return []
    return [entry.removesuffix(ENDING) for entry in entries if entry.endswith(ENDING)]
