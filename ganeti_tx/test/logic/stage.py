"""A cluster in memory for one logical unit: the real configuration and locks, nodes that answer as they are told."""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.local import LocalConfig
from ganeti_tx.config.reservations import Reservations
from ganeti_tx.errors import ResolverError
from ganeti_tx.jobs.lock_taking import LockTaking
from ganeti_tx.jobs.taking_back import TakingBack
from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.locking.owner_locks import OwnerLocks
from ganeti_tx.locking.table import LockTable
from ganeti_tx.logic.master_state import MasterState
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.logic.safe_points import SafePoints
from ganeti_tx.logic.steps import Steps
from ganeti_tx.logic.unit import UnitContext
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_templates import AVAILABLE
from ganeti_tx.model.enums import AdminState, DiskTemplate
from ganeti_tx.model.group_scopes import Kept
from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.model.remote_moves import DomainSecret
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.model.undo import Undo
from ganeti_tx.model.versions import NODE_PROTOCOL_VERSION, RELEASE_VERSION
from ganeti_tx.queue.job import HIGHEST_PRIORITY, QueuedOp
from ganeti_tx.rpc.calls.administration import NodePowercycle, RestrictedCommand, RunOob
from ganeti_tx.rpc.calls.cluster import ClusterCopies, CopiesState
from ganeti_tx.rpc.calls.disk import (
    AssembledDisk,
    BlockdevAssemble,
    BlockdevCreate,
    BlockdevGrow,
    BlockdevRemove,
    BlockdevRename,
    BlockdevShutdown,
    BlockdevStates,
    BlockdevWipe,
    DiskState,
)
from ganeti_tx.rpc.calls.instance import (
    AllInstancesInfo,
    HypervisorValidateParams,
    InstanceForget,
    InstanceInfo,
    InstanceOsAdd,
    InstanceReboot,
    InstanceRunRename,
    InstanceShutdown,
    InstanceStart,
    RunningInstance,
)
from ganeti_tx.rpc.calls.kept import InstanceKept, KeptNames, KeptOwners
from ganeti_tx.rpc.calls.keys import IssuedKeys, KeysForget, KeysIssue, KeysRapi, KeysTrust, KeysUse, NodeTakeKeys
from ganeti_tx.rpc.calls.master import NodeActivateMasterIp, NodeChangeMasterNetmask, NodeDeactivateMasterIp
from ganeti_tx.rpc.calls.mirror import BlockdevAddchildren, BlockdevGetmirrorstatus, BlockdevRemovechildren
from ganeti_tx.rpc.calls.node import (
    BridgesExist,
    NodeCryptoTokens,
    NodeDemoteFromMc,
    NodeFacts,
    NodeHasIpAddress,
    NodeInfo,
    NodeLeaveCluster,
    NodeVerify,
    StorageSpace,
    StorageUnit,
    TestDelay,
)
from ganeti_tx.rpc.calls.os import OsDiagnose, OsValidate
from ganeti_tx.rpc.calls.queue import JobqueuePurge
from ganeti_tx.test.config.stores import config_of, loaded
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.logic.plan_watch import PlannedConfig, PlannedNodes
from ganeti_tx.test.model import samples

FILE_DIR = "/srv/ganeti/file-storage"
CLUSTER = replace(
    samples.CLUSTER,
    candidate_pool_size=2,
    default_iallocator="",
    enabled_disk_templates=(DiskTemplate.FILE, DiskTemplate.PLAIN, DiskTemplate.DISKLESS, DiskTemplate.DRBD),
    file_storage_dir=FILE_DIR,
)
GROUP = replace(samples.GROUP, networks={}, members=("node1-uuid", "node2-uuid"))
FILE_DISK = Disk(
    serial_no=1,
    uuid="disk-uuid",
    dev_type=DiskTemplate.FILE,
    logical_id=("loop", f"{FILE_DIR}/web1.example.com/disk0"),
    size=1024,
    iv_name="disk/0",
    nodes=("node1-uuid",),
)
INSTANCE = replace(samples.INSTANCE, admin_state=AdminState.DOWN, disks_active=False, network_port=11000)
RUNNING = RunningInstance(memory=128, vcpus=1, state=0, time=1.0)
CONFIG = replace(
    samples.CONFIG,
    cluster=CLUSTER,
    nodegroups={GROUP.uuid: GROUP},
    instances={INSTANCE.uuid: INSTANCE},
    disks={FILE_DISK.uuid: FILE_DISK},
    networks={},
)
RACK2 = replace(GROUP, uuid="rack2-uuid", name="rack2", members=())
#: The same with another group, which has no nodes.
TWO_GROUPS = replace(CONFIG, nodegroups={GROUP.uuid: GROUP, RACK2.uuid: RACK2})
ADDRESSES = {
    "web2.example.com": ("web2.example.com", "192.0.2.102"),
    "taken.example.com": ("taken.example.com", "192.0.2.11"),
    "alive.example.com": ("alive.example.com", "192.0.2.103"),
}
#: Addresses of hosts that are no part of the cluster.
ANSWERING = ("192.0.2.103",)


@attrs.define
class Stage:
    """One job's context; `feedback` and `submitted` hold what the unit said and submitted."""

    config: LocalConfig
    nodes: FakeNodeRpc
    clock: Clock
    locks: OwnerLocks
    feedback: list[str] = attrs.field(factory=list)
    steps: list[dict[str, Any]] = attrs.field(factory=list)
    """What was told of steps."""
    kept: list[list[Undo]] = attrs.field(factory=list)
    """The undos, each time that they were written down."""
    submitted: list[Sequence[Sequence[OpCode]]] = attrs.field(factory=list)
    queue_faults: list[str] = attrs.field(factory=list)
    listed_files: list[str] = attrs.field(factory=list)
    group_scopes: dict[str, list[Kept]] = attrs.field(factory=dict)
    drained: bool = False
    watcher_pause: float | None = None
    templates: Sequence[DiskTemplate] = AVAILABLE
    safe_points: SafePoints = attrs.field(factory=SafePoints)
    worked: Callable[[], float] = lambda: 0.0
    locked: dict[str, str] = attrs.field(factory=dict)
    """What was held when the unit was executed, each lock with its mode."""

    @property
    def snapshot(self) -> ConfigData:
        """The configuration as it is on disk."""
        return self.config.session.store.snapshot

    def run(self, op: OpCode) -> "Deferred[Any]":
        """All the steps of an opcode, as a job does them."""
        return Deferred.fromCoroutine(self._run(op))

    async def _run(self, op: OpCode) -> Any:
        unit = UNITS[type(op)](op, self.context())
        waits = QueuedOp(input={}, priority=HIGHEST_PRIORITY)  # without limit
        try:
            await LockTaking(self.locks, self.clock).take(unit, lambda: waits)
            self.locked = {str(lock): mode.value for lock, mode in (await self.locks.held()).items()}
            await unit.check()
            return unit.dry_run_result() if op.dry_run else await unit.carry_out()
        finally:
            await self.locks.release_all()

    def context(self) -> UnitContext:
        """What the unit of a job here may touch."""
        steps = self.plan_of_steps()
        return UnitContext(
            job_id=1,
            config=PlannedConfig(self.config, steps),
            locks=self.locks,
            nodes=PlannedNodes(self.nodes, steps),
            clock=self.clock,
            now=self.clock.seconds,
            feedback=self._tell,
            steps=steps,
            submit_jobs=self._submit,
            resolve=resolve,
            ping=ping,
            queue_faults=lambda: self.queue_faults,
            listed_files=lambda: self.listed_files,
            group_scopes=lambda: self.group_scopes,
            allocator_fault=lambda name: None if name == "hail" else f"there is no instance allocator {name!r}",
            master_state=MasterState(lambda: self.drained, lambda: self.watcher_pause),
            domain_secret=lambda: DomainSecret("shared"),
            templates=self.templates,
            safe_points=self.safe_points,
            worked=self.worked,
        )

    def plan_of_steps(self) -> Steps:
        """Those of one unit, which must do nothing outside of them."""
        return Steps(
            tell=self.steps.append,
            warn=lambda text: self.feedback.append(f"- WARNING: {text}"),
            take_back=TakingBack(self.config, self.nodes, self.clock),
            keep=self._keep,
            safe_points=self.safe_points,
        )

    def _tell(self, kind: str, payload: Any) -> None:
        self.feedback.append(payload)

    async def _keep(self, undos: Sequence[Undo]) -> None:
        self.kept.append(list(undos))

    async def _submit(self, jobs: Sequence[Sequence[OpCode]]) -> list[tuple[bool, Any]]:
        self.submitted.append(jobs)
        return [(True, number) for number, _ in enumerate(jobs, 100)]


async def ping(address: str) -> bool:
    """Who answers in this network."""
    return address in ANSWERING


async def resolve(name: str) -> tuple[str, str]:
    """The names that this cluster's resolver knows."""
    full = name if "." in name else f"{name}.example.com"
    if full not in ADDRESSES:
        raise ResolverError(name, -2, "Name or service not known")
    return ADDRESSES[full]


class UnitTestCase(SynchronousTestCase):
    """Sets the stage: two nodes that are well, and web1, which is down and has one disk in a file on node1."""

    initial: ConfigData = CONFIG

    def setUp(self) -> None:
        self.stage = self.make_stage(self.initial)
        self.nodes = self.stage.nodes

    def make_stage(self, config: ConfigData) -> Stage:
        """A stage for a configuration."""
        clock = Clock()
        local = config_of(loaded(MemoryFiles(), config), Reservations())
        owner = Owner(1, "livelock")
        stage = Stage(local, healthy_nodes(), clock, OwnerLocks(DeferredLocks(LockTable(), clock), owner))
        self.assertEqual(self.successResultOf(Deferred.fromCoroutine(local.verify())), [])
        return stage

    def run_op(self, op: OpCode) -> Any:
        """The result of an opcode that succeeds at once."""
        return self.successResultOf(self.stage.run(op))

    def refused(self, op: OpCode, error: type[Exception]) -> str:
        """The text of the error by which an opcode fails at once."""
        return str(self.failureResultOf(self.stage.run(op), error).value)


def spaces(units: Sequence[StorageUnit]) -> list[StorageSpace]:
    """Room for whatever a test makes."""
    return [StorageSpace(unit.type, unit.name, 1 << 20, 1 << 20) for unit in units]


def healthy_nodes() -> FakeNodeRpc:
    """Nodes with room, on which nothing runs, and which do what they are told."""
    nodes = FakeNodeRpc()
    nodes.succeed(HypervisorValidateParams, BridgesExist, TestDelay, NodeDemoteFromMc, NodeLeaveCluster, JobqueuePurge)
    nodes.succeed(
        InstanceStart, InstanceShutdown, InstanceReboot, InstanceOsAdd, BlockdevCreate, BlockdevRemove, BlockdevShutdown
    )
    nodes.succeed(InstanceRunRename, BlockdevRename)
    nodes.succeed(BlockdevGrow, BlockdevWipe, BlockdevAddchildren, BlockdevRemovechildren)
    nodes.answer(BlockdevGetmirrorstatus, [BlockDevStatus(dev_path="/dev/disk", size=1024)])
    nodes.answer(KeysRapi, True)
    nodes.answer(KeysIssue, IssuedKeys(client=b"", server=b"", client_digest="new", server_digest="new"))
    nodes.succeed(KeysTrust, KeysUse, KeysForget, NodeTakeKeys)
    nodes.succeed(NodeActivateMasterIp, NodeDeactivateMasterIp, NodeChangeMasterNetmask)
    nodes.answers[NodeInfo] = lambda node, call: NodeFacts(
        boot_id="", storage=spaces(call.storage_units), hypervisors={"kvm": {"memory_free": 4096}}
    )
    nodes.answer(InstanceInfo, None)
    nodes.answer(InstanceKept, {})
    nodes.answer(KeptOwners, [])
    nodes.answer(KeptNames, [])
    nodes.succeed(InstanceForget)
    nodes.answer(NodeVerify, {"version": [NODE_PROTOCOL_VERSION, RELEASE_VERSION], "time": 0.0})
    nodes.answer(AllInstancesInfo, {})
    nodes.answer(OsDiagnose, [])
    nodes.answer(NodeCryptoTokens, [])
    nodes.answers[BlockdevStates] = lambda node, call: [
        DiskState(BlockDevStatus(dev_path="/dev/disk", size=disk.size)) for disk in call.disks
    ]
    nodes.answers[BlockdevGetmirrorstatus] = lambda node, call: [
        BlockDevStatus(dev_path="/dev/disk", size=disk.size) for disk in call.disks
    ]
    nodes.answer(BlockdevAssemble, AssembledDisk(path="/dev/disk"))
    nodes.answer(NodeHasIpAddress, True)
    nodes.answer(OsValidate, True)
    nodes.answer(RestrictedCommand, "")
    nodes.answer(RunOob, "")
    nodes.answer(NodePowercycle, "Reboot scheduled in 5 seconds")
    nodes.answer(ClusterCopies, CopiesState(config=1, queue=1, ssconf="digest", master="node1.example.com"))
    return nodes
