"""The one table of node calls: what each carries, what it answers, how long it may take and how big it may be.

Both ends read it. A call is a frozen value whose class knows the rest, so `await nodes.call(node, InstanceStart(...))` is
typed from end to end. Names and time-out classes are those of Ganeti's node call table; arguments travel by name, because
nobody but this program speaks this protocol.
"""

from typing import Any, ClassVar

import msgspec

from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.model.master_network import MasterNetworkParameters
from ganeti_tx.model.stamp import Stamp
from ganeti_tx.runtime.master_term import MasterTerm

MiB = 1024 * 1024

#: Time-out classes in seconds.
URGENT = 60.0
FAST = 300.0
NORMAL = 900.0
SLOW = 3600.0
ONE_DAY = 86400.0


class NodeCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call with its arguments. `result` is the type of the answer; sizes are bytes of the encoded body."""

    name: ClassVar[str]
    result: ClassVar[Any] = type(None)
    timeout: ClassVar[float] = NORMAL
    max_request: ClassVar[int] = 4 * MiB
    max_response: ClassVar[int] = 16 * MiB

    def time_limit(self) -> float:
        """Seconds after which the caller gives up."""
        return self.timeout


# The node itself


class Version(NodeCall, frozen=True, kw_only=True):
    """Which protocol version does the node daemon speak?"""

    name: ClassVar[str] = "version"
    result: ClassVar[Any] = int
    timeout: ClassVar[float] = URGENT


class TestDelay(NodeCall, frozen=True, kw_only=True):
    """Wait for some seconds."""

    name: ClassVar[str] = "test_delay"
    duration: float

    def time_limit(self) -> float:
        """The wait itself, and five seconds."""
        return self.duration + 5


class StorageUnit(msgspec.Struct, frozen=True):
    """A pool to be measured: its storage type, its name (a directory, a volume group) and the template's parameters."""

    type: str
    name: str
    params: dict[str, Any] = {}


class StorageSpace(msgspec.Struct, frozen=True):
    """The room in one pool, MiB; None when it cannot be told."""

    type: str
    name: str
    storage_size: int | None = None
    storage_free: int | None = None


class NodeFacts(msgspec.Struct, frozen=True):
    """What a node says of itself: the hypervisors' facts are keyed by name and hold `hv_info_keys` of Ganeti's table."""

    boot_id: str
    storage: list[StorageSpace]
    hypervisors: dict[str, dict[str, Any]]


class NodeInfo(NodeCall, frozen=True, kw_only=True):
    """Memory, CPUs and storage."""

    name: ClassVar[str] = "node_info"
    result: ClassVar[Any] = NodeFacts
    timeout: ClassVar[float] = URGENT
    storage_units: list[StorageUnit]
    hypervisors: list[str]


class NodeVerify(NodeCall, frozen=True, kw_only=True):
    """Run checks, keyed by Ganeti's names of them ("hypervisor", "filelist", "time", "version", ...)."""

    name: ClassVar[str] = "node_verify"
    result: ClassVar[Any] = dict[str, Any]
    checks: dict[str, Any]
    cluster_name: str


class NodeHasIpAddress(NodeCall, frozen=True, kw_only=True):
    """Does the node own the address?"""

    name: ClassVar[str] = "node_has_ip_address"
    result: ClassVar[Any] = bool
    timeout: ClassVar[float] = FAST
    address: str


class NodeCryptoTokens(NodeCall, frozen=True, kw_only=True):
    """By what is the node known? A list of [kind, token]; "ssl" is the digest of its client certificate."""

    name: ClassVar[str] = "node_crypto_tokens"
    result: ClassVar[Any] = list[tuple[str, str]]
    timeout: ClassVar[float] = SLOW


class NodeLeaveCluster(NodeCall, frozen=True, kw_only=True):
    """Forget the cluster: configuration, queue and keys go, then the daemon ends itself."""

    name: ClassVar[str] = "node_leave_cluster"


class NodeDemoteFromMc(NodeCall, frozen=True, kw_only=True):
    """The node is no master candidate any more: it forgets the configuration. The master itself refuses."""

    name: ClassVar[str] = "node_demote_from_mc"
    timeout: ClassVar[float] = FAST
    stamp: Stamp | None = None


class BridgesExist(NodeCall, frozen=True, kw_only=True):
    """Are all these bridges there?"""

    name: ClassVar[str] = "bridges_exist"
    timeout: ClassVar[float] = URGENT
    bridges: list[str]


# The master role


class Ballot(msgspec.Struct, frozen=True, kw_only=True):
    """What a node's own files say of its cluster: the master's name, and how new the copies are that it has.

    `config_serial` is None on a node without a copy of the configuration; `ssconf_serial` is that of the configuration
    from which its simple configuration was made, and `job_serial` the highest job id it has heard of; -1: not known.
    """

    master: str | None
    cluster_uuid: str | None = None
    config_serial: int | None = None
    config_mtime: float = 0.0
    ssconf_serial: int = -1
    job_serial: int = -1
    #: The latest term that the node has heard of.
    term: MasterTerm | None = None

    @property
    def newest(self) -> int:
        """The newest configuration that the node has seen."""
        return max(self.ssconf_serial, -1 if self.config_serial is None else self.config_serial)


class MasterVote(NodeCall, frozen=True, kw_only=True):
    """Who is the master, and what is the newest that the node knows? Read from its files at this moment."""

    name: ClassVar[str] = "master_vote"
    result: ClassVar[Any] = Ballot
    timeout: ClassVar[float] = 10.0


class MasterNodeName(NodeCall, frozen=True, kw_only=True):
    """The name of the master by the node's simple configuration; empty when it knows none."""

    name: ClassVar[str] = "master_node_name"
    result: ClassVar[Any] = str
    timeout: ClassVar[float] = URGENT


class NodeActivateMasterIp(NodeCall, frozen=True, kw_only=True):
    """Take the cluster's address."""

    name: ClassVar[str] = "node_activate_master_ip"
    timeout: ClassVar[float] = FAST
    master_params: MasterNetworkParameters
    use_external_mip_script: bool


class NodeDeactivateMasterIp(NodeCall, frozen=True, kw_only=True):
    """Give up the cluster's address."""

    name: ClassVar[str] = "node_deactivate_master_ip"
    timeout: ClassVar[float] = FAST
    master_params: MasterNetworkParameters
    use_external_mip_script: bool


class NodeChangeMasterNetmask(NodeCall, frozen=True, kw_only=True):
    """Give the cluster's address another netmask."""

    name: ClassVar[str] = "node_change_master_netmask"
    timeout: ClassVar[float] = FAST
    old_netmask: int
    netmask: int
    master_ip: str
    master_netdev: str


class NodeStartMasterDaemons(NodeCall, frozen=True, kw_only=True):
    """Start the master daemons; with `no_voting` they do not ask the other nodes."""

    name: ClassVar[str] = "node_start_master_daemons"
    timeout: ClassVar[float] = FAST
    no_voting: bool


class NodeStopMaster(NodeCall, frozen=True, kw_only=True):
    """Stop the master daemons and end the processes of their jobs."""

    name: ClassVar[str] = "node_stop_master"
    timeout: ClassVar[float] = FAST


# Files


class UploadFile(NodeCall, frozen=True, kw_only=True):
    """Write one of the cluster's own files; only paths of the node's list are taken.

    What comes from a former master is refused; under one master a lower `serial` never replaces.
    """

    name: ClassVar[str] = "upload_file"
    max_request: ClassVar[int] = 256 * MiB
    path: str
    data: bytes
    serial: int | None = None
    stamp: Stamp | None = None


class WriteSsconfFiles(NodeCall, frozen=True, kw_only=True):
    """Write simple configuration files, by key; values without the final newline. Older ones are refused.

    `serial` is that of the configuration from which they were made: a node follows a new master only to a higher one.
    """

    name: ClassVar[str] = "write_ssconf_files"
    max_request: ClassVar[int] = 64 * MiB
    values: dict[str, str]
    serial: int | None = None
    stamp: Stamp | None = None


class CopiesState(msgspec.Struct, frozen=True, kw_only=True):
    """How new a node's copies are: serial numbers, None where there is no copy; `ssconf` is a digest of all values."""

    config: int | None
    queue: int | None
    ssconf: str
    master: str


class ClusterCopies(NodeCall, frozen=True, kw_only=True):
    """How new are the copies that the node keeps, and who does its simple configuration say is the master?"""

    name: ClassVar[str] = "cluster_copies"
    result: ClassVar[Any] = CopiesState
    timeout: ClassVar[float] = URGENT


class JobqueueUpdate(NodeCall, frozen=True, kw_only=True):
    """Write files of the queue directory, by name; of each the one with the highest sequence number stays.

    `sequences` are those of the files in their order; they count within the stamp's term.
    """

    name: ClassVar[str] = "jobqueue_update"
    timeout: ClassVar[float] = URGENT
    max_request: ClassVar[int] = 128 * MiB
    files: list[tuple[str, str]]
    sequences: list[int] = []
    stamp: Stamp | None = None


class JobqueueRename(NodeCall, frozen=True, kw_only=True):
    """Rename files of the queue directory: [from, to], relative to it."""

    name: ClassVar[str] = "jobqueue_rename"
    timeout: ClassVar[float] = URGENT
    max_request: ClassVar[int] = 64 * MiB
    renames: list[tuple[str, str]]
    stamp: Stamp | None = None


class JobqueueSweep(NodeCall, frozen=True, kw_only=True):
    """Archive the copies of all jobs up to an id that are not among the live ones."""

    name: ClassVar[str] = "jobqueue_sweep"
    timeout: ClassVar[float] = URGENT
    max_request: ClassVar[int] = 64 * MiB
    live: list[int]
    up_to: int
    stamp: Stamp | None = None


class JobqueuePurge(NodeCall, frozen=True, kw_only=True):
    """Remove every job file and the archive; what was sent before it is not taken after it."""

    name: ClassVar[str] = "jobqueue_purge"
    stamp: Stamp | None = None


class JobqueueDigests(NodeCall, frozen=True, kw_only=True):
    """The digests (`model.digest`) of these copies, by name; of those that are there."""

    name: ClassVar[str] = "jobqueue_digests"
    result: ClassVar[Any] = dict[str, str]
    timeout: ClassVar[float] = URGENT
    names: list[str]


class JobqueueSetDrainFlag(NodeCall, frozen=True, kw_only=True):
    """Set or remove the drain flag."""

    name: ClassVar[str] = "jobqueue_set_drain_flag"
    timeout: ClassVar[float] = URGENT
    drained: bool
    stamp: Stamp | None = None


# Instances


class RunningInstance(msgspec.Struct, frozen=True):
    """An instance as its hypervisor sees it: memory in MiB, CPU time in seconds, state 0 running or 1 shut down by its user."""

    memory: int
    vcpus: int
    state: int
    time: float


class AllInstancesInfo(NodeCall, frozen=True, kw_only=True):
    """Everything that these hypervisors run, by instance name."""

    name: ClassVar[str] = "all_instances_info"
    result: ClassVar[Any] = dict[str, RunningInstance]
    timeout: ClassVar[float] = URGENT
    hypervisors: list[str]


class InstanceInfo(NodeCall, frozen=True, kw_only=True):
    """One instance, or nothing."""

    name: ClassVar[str] = "instance_info"
    result: ClassVar[Any] = RunningInstance | None
    timeout: ClassVar[float] = URGENT
    instance_name: str
    hypervisor: str


class InstanceStart(NodeCall, frozen=True, kw_only=True):
    """Make the disks ready and start the instance."""

    name: ClassVar[str] = "instance_start"
    instance: InstanceSpec
    startup_paused: bool = False


class InstanceShutdown(NodeCall, frozen=True, kw_only=True):
    """Stop the instance: ask, wait `shutdown_timeout` seconds, cut off; at once with `force`. The disks stay ready."""

    name: ClassVar[str] = "instance_shutdown"
    instance_name: str
    hypervisor: str
    shutdown_timeout: float
    force: bool = False

    def time_limit(self) -> float:
        """The wait for the guest, and the usual time."""
        return self.shutdown_timeout + NORMAL


class InstanceReboot(NodeCall, frozen=True, kw_only=True):
    """Restart from inside the hypervisor ("soft") or by stopping and starting ("hard")."""

    name: ClassVar[str] = "instance_reboot"
    instance: InstanceSpec
    reboot_type: str
    shutdown_timeout: float

    def time_limit(self) -> float:
        """The wait for the guest, and the usual time."""
        return self.shutdown_timeout + NORMAL


class InstanceOsAdd(NodeCall, frozen=True, kw_only=True):
    """Run the OS definition's create script on the ready disks."""

    name: ClassVar[str] = "instance_os_add"
    timeout: ClassVar[float] = ONE_DAY
    instance: InstanceSpec
    reinstall: bool = False
    debug: int = 0


class InstanceConsole(NodeCall, frozen=True, kw_only=True):
    """How to reach the console; a wire InstanceConsole."""

    name: ClassVar[str] = "instance_console_info"
    result: ClassVar[Any] = dict[str, Any]
    timeout: ClassVar[float] = URGENT
    instance: InstanceSpec


class HypervisorValidateParams(NodeCall, frozen=True, kw_only=True):
    """Can the node run an instance with these filled parameters?"""

    name: ClassVar[str] = "hypervisor_validate_params"
    hypervisor: str
    hvparams: dict[str, Any]


# Disks


class DiskState(msgspec.Struct, frozen=True):
    """A disk that is there (Ganeti's BlockDevStatus); `size` is MiB."""

    dev_path: str
    size: int
    major: int | None = None
    minor: int | None = None
    sync_percent: float | None = None
    estimated_time: float | None = None
    is_degraded: bool = False
    ldisk_status: int = 0


class BlockdevCreate(NodeCall, frozen=True, kw_only=True):
    """Create a disk."""

    name: ClassVar[str] = "blockdev_create"
    disk: DiskSpec
    owner: str
    on_primary: bool = True


class BlockdevRemove(NodeCall, frozen=True, kw_only=True):
    """Remove a disk."""

    name: ClassVar[str] = "blockdev_remove"
    disk: DiskSpec


class BlockdevGrow(NodeCall, frozen=True, kw_only=True):
    """Grow a disk by `amount` MiB, or check that it could."""

    name: ClassVar[str] = "blockdev_grow"
    disk: DiskSpec
    amount: int
    dry_run: bool = False


class BlockdevRename(NodeCall, frozen=True, kw_only=True):
    """Give a disk another logical id."""

    name: ClassVar[str] = "blockdev_rename"
    disk: DiskSpec
    logical_id: list[Any]


class BlockdevAssemble(NodeCall, frozen=True, kw_only=True):
    """Make a disk ready; answers its path."""

    name: ClassVar[str] = "blockdev_assemble"
    result: ClassVar[Any] = str
    disk: DiskSpec
    owner: str
    on_primary: bool = True


class BlockdevShutdown(NodeCall, frozen=True, kw_only=True):
    """Undo `blockdev_assemble`."""

    name: ClassVar[str] = "blockdev_shutdown"
    disk: DiskSpec
    owner: str


class BlockdevFind(NodeCall, frozen=True, kw_only=True):
    """A disk's state, or nothing."""

    name: ClassVar[str] = "blockdev_find"
    result: ClassVar[Any] = DiskState | None
    disk: DiskSpec


# Operating systems


class OsReport(msgspec.Struct, frozen=True):
    """One OS definition that a node found, good or bad."""

    name: str
    path: str
    valid: bool
    diagnose: str
    variants: list[str]
    parameters: list[tuple[str, str]]
    api_versions: list[int]
    trusted: bool = True


class OsDiagnose(NodeCall, frozen=True, kw_only=True):
    """Every OS definition of the node."""

    name: ClassVar[str] = "os_diagnose"
    result: ClassVar[Any] = list[OsReport]
    timeout: ClassVar[float] = FAST


class OsValidate(NodeCall, frozen=True, kw_only=True):
    """Is the OS there, with this variant and these parameters? False only when it is not and need not be."""

    name: ClassVar[str] = "os_validate"
    result: ClassVar[Any] = bool
    timeout: ClassVar[float] = FAST
    required: bool
    os_name: str
    checks: list[str]
    osparams: dict[str, Any]
    force_variant: bool = False


CALLS: dict[str, type[NodeCall]] = {call.name: call for call in NodeCall.__subclasses__()}
