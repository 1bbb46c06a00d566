"""Three nodes in memory: real files, votes and guards, and daemons that run or do not; with faults at any step."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import define, field
from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.election.failover import Failover
from ganeti_tx.election.jobs_left import JobsLeft
from ganeti_tx.election.role import MasterRole
from ganeti_tx.election.voting import Voting
from ganeti_tx.errors import GanetiError, OpExecError
from ganeti_tx.mastership.ballot import Ballot, own_ballot
from ganeti_tx.mastership.term import Stamps, claim_term
from ganeti_tx.model.config_data import ConfigData, decode, encode
from ganeti_tx.node.answers import answers
from ganeti_tx.node.cluster_files import ClusterFiles
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.job_copies import JobCopies
from ganeti_tx.node.master_guard import MasterGuard
from ganeti_tx.node.service import UPLOADS
from ganeti_tx.node.terms import Terms
from ganeti_tx.queue.job import QueuedJob, decode_job, encode_job
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.master import (
    MasterVote,
    NodeActivateMasterIp,
    NodeDeactivateMasterIp,
    NodeStartMasterDaemons,
    NodeStopMaster,
)
from ganeti_tx.rpc.interfaces import (
    INodeRpc,
    NodeCallError,
    NodeOfflineError,
    NodeUnreachableError,
    Outcome,
    R,
    RpcError,
    Target,
)
from ganeti_tx.rpc.stamped import StampedRpc
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.livelock import FakeLiveness
from ganeti_tx.test.model import samples

PATHS = Paths()
NAMES = ("node1", "node2", "node3")
SERIAL = 10


def epoch(clock: IReactorTime) -> Callable[[], float]:
    """The time of the day, of which a clock that nobody sets knows nothing."""
    return lambda: 1_700_000_000.0 + clock.seconds()


class Killed(BaseException):
    """The program that ran was ended at this step."""


def three_nodes(offline: tuple[str, ...] = (), candidates: tuple[str, ...] = NAMES) -> ConfigData:
    """A configuration with node1, the master, node2 and node3."""
    master = samples.CONFIG.nodes[samples.CONFIG.cluster.master_node]
    nodes = [
        replace(master, name=name, uuid=f"uuid-{name}", offline=name in offline, master_candidate=name in candidates)
        for name in NAMES
    ]
    return replace(
        samples.CONFIG,
        serial_no=SERIAL,
        cluster=replace(samples.CONFIG.cluster, master_node="uuid-node1"),
        nodes={node.uuid: node for node in nodes},
        instances={},
        disks={},
    )


@define(eq=False)
class MemoryNode:
    """One node: what it has on disk, and whether its master daemons run."""

    name: str
    cluster: "ThreeNodes"
    files: MemoryFiles = field(factory=MemoryFiles)
    reachable: bool = True
    running: bool = False
    has_address: bool = False
    dispatch: NodeDispatch = field(init=False)

    def __attrs_post_init__(self) -> None:
        for directory in (PATHS.data_dir, PATHS.queue_dir, PATHS.run_dir):
            self.files.mkdir(directory)
        self.start_daemon()

    def start_daemon(self) -> None:
        """Its node daemon starts, and remembers nothing but what is on disk."""
        terms = Terms(self.files, PATHS)
        master_guard = MasterGuard(self.files, PATHS, self.name, terms, lambda: self.stop(NodeStopMaster()))
        queue = JobCopies(self.files, PATHS, terms)
        cluster_files = ClusterFiles(self.files, PATHS, UPLOADS, self.name, terms, queue)
        self.dispatch = NodeDispatch(cluster_files, queue, self, guard=master_guard.perform)

    @answers(MasterVote)
    async def vote(self, call: MasterVote) -> Ballot:
        """As the real node daemon."""
        return own_ballot(self.files, PATHS)

    @answers(NodeStopMaster)
    async def stop(self, call: NodeStopMaster) -> None:
        """Its master daemons run no more."""
        self.running = False

    @answers(NodeStartMasterDaemons)
    async def start(self, call: NodeStartMasterDaemons) -> None:
        """They run if they win the vote. @raise OpExecError: they do not."""
        try:
            await self.role().take(Voting(not call.no_voting, 0.0), lead=True)
        except GanetiError as error:
            raise OpExecError(f"ganeti-master did not start: {error}") from None
        self.running = True

    @answers(NodeActivateMasterIp)
    async def take_address(self, call: NodeActivateMasterIp) -> None:
        """The cluster's address is here."""
        self.has_address = True

    @answers(NodeDeactivateMasterIp)
    async def drop_address(self, call: NodeDeactivateMasterIp) -> None:
        """It is not."""
        self.has_address = False

    def role(self) -> MasterRole:
        """Its claim to be the master."""
        return MasterRole(
            self.files, PATHS, self.name, self.cluster.clock, epoch(self.cluster.clock),
            lambda: self.cluster.rpc(self.name), print,
        )  # fmt: skip

    def may_start(self) -> bool:
        """Whether its master daemons would start now; nothing is changed by asking."""
        try:
            self.cluster.finish(self.role().take(Voting(timeout=0.0), lead=False))
        except GanetiError:
            return False
        return True

    def have(self, config: ConfigData) -> None:
        """Put a configuration and what follows from it on the disk."""
        node = next(node for node in config.nodes.values() if node.name == self.name)
        if node.master_candidate:
            self.put(PATHS.config_file, encode(config))
        for key, value in ssconf_values(config).items():
            self.put(PATHS.ssconf_file(key), f"{value}\n".encode() if value else b"")

    def put(self, path: Any, data: bytes) -> None:
        """Write a file."""
        self.cluster.finish(self.files.write_atomic(path, data, 0o640))

    @property
    def config(self) -> ConfigData:
        """Its configuration."""
        return decode(self.files.read(PATHS.config_file, 1 << 20))

    @property
    def master(self) -> str | None:
        """Whom it follows."""
        return own_ballot(self.files, PATHS).master

    def put_job(self, job: QueuedJob) -> None:
        """Have a job's file."""
        self.put(PATHS.job_file(job.id), encode_job(job))

    def job(self, job_id: int) -> QueuedJob:
        """A job by its file."""
        return decode_job(self.files.read(PATHS.job_file(job_id), 1 << 20))


@define(eq=False)
class ThreeNodes:
    """node1 is the master. `step` is called before each node call and each write of the program under test."""

    clock: Clock = field(factory=Clock)
    step: Callable[[str], None] = lambda what: None
    liveness: FakeLiveness = field(factory=FakeLiveness)
    said: list[str] = field(factory=list)
    nodes: dict[str, MemoryNode] = field(factory=dict)
    sent: list[tuple[str, str, NodeCall[object]]] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.nodes = {name: MemoryNode(name, self) for name in NAMES}
        for node in self.nodes.values():
            node.have(three_nodes())
        self.nodes["node1"].running = True

    def rpc(self, caller: str) -> "MemoryRpc":
        """Node calls from a node."""
        return MemoryRpc(self, caller)

    def master_rpc(self, name: str) -> StampedRpc:
        """Node calls of the master daemons on a node, with the stamps of their term."""
        node = self.nodes[name]
        cluster = node.config.cluster.uuid
        term = self.finish(claim_term(node.files, PATHS, cluster, name, self.clock.seconds()))
        return StampedRpc(self.rpc(name), Stamps(term, lambda: 0))

    def failover(self, name: str, vote: bool = True) -> None:
        """Make a node the master, as the command on it does."""
        node = self.nodes[name]
        files: Any = StepFiles(node.files, self)
        steps = Failover(
            files=files,
            paths=PATHS,
            own_name=name,
            clock=self.clock,
            now=lambda: 1000.0,
            rpc=StepRpc(self, name),
            jobs=JobsLeft(files, PATHS, self.liveness),
            is_up=lambda: node.running,
            say=self.said.append,
        )
        self.finish(steps.run(vote))

    def finish(self, work: Any) -> Any:
        """Let time pass until a coroutine has ended; its result."""
        results: list[Any] = []

        async def wait() -> Any:
            try:
                return await work
            except Killed as killed:  # Twisted lets no BaseException through a Deferred in one piece
                return killed

        Deferred.fromCoroutine(wait()).addBoth(results.append)
        for _ in range(1000):
            if results:
                break
            self.clock.advance(1)
        result = results[0]
        if isinstance(result, Failure):
            result.raiseException()
        if isinstance(result, Killed):
            raise result
        return result

    def masters(self) -> list[str]:
        """The nodes whose master daemons run."""
        return [name for name, node in self.nodes.items() if node.running]

    def possible_masters(self) -> list[str]:
        """The nodes whose master daemons would start."""
        return [name for name, node in self.nodes.items() if node.reachable and node.may_start()]


@implementer(INodeRpc)
@define
class MemoryRpc:
    """INodeRpc among the three; the caller's name is known as its certificate tells it."""

    cluster: ThreeNodes
    caller: str

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """See INodeRpc."""
        if node.offline:
            raise NodeOfflineError(f"node {node.name} is marked offline")
        target = self.cluster.nodes[node.name]
        if not (target.reachable and self.cluster.nodes[self.caller].reachable):
            raise NodeUnreachableError(
                f"cannot reach node {node.name} (192.0.2.1) for {call.name}: no route", "no route"
            )
        self.cluster.sent.append((self.caller, node.name, call))
        try:
            return await target.dispatch.perform(call, self.caller)
        except GanetiError as error:
            raise NodeCallError(f"node {node.name}: {error}", error) from None

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """See INodeRpc."""
        outcomes: dict[str, Outcome[Any]] = {}
        for node in nodes:
            try:
                outcomes[node.name] = Outcome(await self.call(node, call))
            except RpcError as error:
                outcomes[node.name] = Outcome(error=error)
        return outcomes


@define
class StepRpc(MemoryRpc):
    """The calls of the program under test."""

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """See INodeRpc."""
        self.cluster.step(f"{call.name} on {node.name}")
        return await MemoryRpc.call(self, node, call)


class StepFiles:
    """The files of the program under test: a step before each write."""

    def __init__(self, files: MemoryFiles, cluster: ThreeNodes) -> None:
        self._files = files
        self._cluster = cluster

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    async def write_atomic(self, path: Any, data: bytes, mode: int = 0o640, *, sync: bool = True) -> None:
        """See IFiles."""
        self._cluster.step(f"write {path.name}")
        await self._files.write_atomic(path, data, mode)

    async def write_many(self, files: Any, mode: int = 0o640) -> None:
        """See IFiles."""
        self._cluster.step(f"write {', '.join(path.name for path in files)}")
        await self._files.write_many(files, mode)
