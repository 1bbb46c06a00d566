"""The master daemons of a simulated node: WConfD, luxid and the zygote, which end and begin at a test's word."""

from collections.abc import Awaitable, Callable

from attrs import define, field
from twisted.internet.defer import Deferred

from ganeti_tx.config.copies import read_own
from ganeti_tx.config.file_snapshot import FileSnapshot
from ganeti_tx.election.master_rpc import MasterRpc
from ganeti_tx.election.role import MasterRole
from ganeti_tx.election.voting import Voting
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.logic.unit import UnitTable
from ganeti_tx.luxid.service import Luxid, LuxidParts, build_luxid
from ganeti_tx.mastership.term import Stamps, claim_term
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.queue.runners.process_launcher import ProcessJobLauncher
from ganeti_tx.queue.runners.runner_channel import ChannelFactory
from ganeti_tx.rpc.interfaces import INodeRpc
from ganeti_tx.rpc.stamped import StampedRpc
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.entropy import SeededEntropy
from ganeti_tx.test.fakes.livelock import FakeLiveness
from ganeti_tx.test.inprocess.disk import ProcessFiles, ProcessFileWatch, put
from ganeti_tx.test.inprocess.launcher import InProcessZygote
from ganeti_tx.test.inprocess.network import Network, NetworkRpc, Origin
from ganeti_tx.test.inprocess.node import SimulatedNode
from ganeti_tx.test.inprocess.simulation import Process, SimulatedTime
from ganeti_tx.test.inprocess.sockets import Sockets
from ganeti_tx.wconfd.protocol.client import NOBODY, WconfClient
from ganeti_tx.wconfd.service import Wconfd, WconfdParts, build_wconfd, master_role

#: Simulated seconds after which what has not ended never will.
TIMEOUT = 30 * 86400.0

Resolve = Callable[[str], Awaitable[tuple[str, str]]]


@define(eq=False)
class MasterDaemons:
    """Each daemon is a process of its own on its node.

    With `voting` they ask the other nodes whether this one is the master, and end when it is not any more.
    """

    node: SimulatedNode
    time: SimulatedTime
    network: Network
    paths: Paths
    entropy: SeededEntropy
    make_process: Callable[[str, Sockets], Process]
    units_of: Callable[[str], UnitTable]
    resolve: Resolve
    voting: bool = False
    #: Whether they shall run: nobody has stopped them since, and they have not found another master.
    wanted: bool = False
    #: Whether the machine starts them when it boots.
    enabled: bool = False
    #: Hears of each luxid that is up.
    is_up: Callable[["MasterDaemons"], None] = lambda daemons: None
    sockets: Sockets = field(factory=Sockets)
    #: The programs that administrators run here, besides those on the master's socket.
    commands: list[Process] = field(factory=list)
    liveness: FakeLiveness = field(factory=FakeLiveness)
    zygote: InProcessZygote = field(init=False)
    wconfd_process: Process = field(init=False)
    luxid_process: Process = field(init=False)
    origin: Origin = field(init=False)
    wconfd: Wconfd = field(init=False)
    luxid: Luxid = field(init=False)
    _answering: Process = field(init=False)

    def __attrs_post_init__(self) -> None:
        nothing = Process("nothing", self.time, self.sockets, alive=False)
        self.wconfd_process = self.luxid_process = self._answering = nothing
        self.origin = Origin(self.node.name, self.node.address)
        self.zygote = InProcessZygote(
            self.new_process, self.node, self.paths, self.network, self.liveness, self.resolve, self.units_of,
            self.origin,
        )  # fmt: skip
        self.zygote.process = nothing

    def new_process(self, name: str) -> Process:
        """One more simulated process on this node."""
        return self.make_process(name, self.sockets)

    @property
    def config(self) -> ConfigData:
        """The configuration that is on disk."""
        return self.wconfd.store.snapshot

    def rpc(self, process: Process) -> INodeRpc:
        """Node calls of a process here."""
        return NetworkRpc(self.network, process, self.origin)

    async def stamped_rpc(self, process: Process) -> INodeRpc:
        """Those of a process of the master, which shows its stamps."""
        files, cluster = ProcessFiles(self.node.disk, process), read_own(self.node.disk, self.paths).config.cluster.uuid
        term = await claim_term(files, self.paths, cluster, self.node.name, self.node.now())
        return StampedRpc(self.rpc(process), Stamps(term, lambda: int(process.seconds() * 1e9)))

    # WConfD

    def start_wconfd_later(self) -> "Deferred[None]":
        """Start it; fires when it is up. @raise ConfigurationError: it cannot start."""
        self.wanted = self.enabled = True
        process = self.wconfd_process = self.new_process("wconfd")
        return Deferred.fromCoroutine(self._bring_up_wconfd(process))

    async def _bring_up_wconfd(self, process: Process) -> None:
        parts = WconfdParts(
            own_name=self.node.name,
            paths=self.paths,
            files=ProcessFiles(self.node.disk, process),
            clock=process,
            now=self.node.now,
            make_rpc=lambda: self.rpc(process),
            liveness=self.liveness,
            entropy=self.entropy,
        )
        role = None
        if self.voting:
            role, parts = master_role(parts, lambda error: self._leave())
            await role.take(Voting(), lead=True)
        self.wconfd = await build_wconfd(parts)
        self._answering = process
        process.listenUNIX(str(self.paths.wconfd_socket), self.wconfd.factory)
        if role is not None:
            role.when_risen(self.wconfd.distributor.redistribute)
            role.watch()

    @property
    def wconfd_is_up(self) -> bool:
        """Whether `wconfd` is one that lives."""
        return self._answering is self.wconfd_process and self.wconfd_process.alive

    def kill_wconfd(self) -> None:
        """End it at once; what it had not written is lost."""
        self.wconfd_process.die()

    # luxid

    def start_luxid_later(self) -> "Deferred[None]":
        """Start it; fires when it is up. @raise OSError, GanetiError: it cannot start."""
        process = self.luxid_process = self.new_process("luxid")
        return Deferred.fromCoroutine(self._bring_up_luxid(process))

    async def _bring_up_luxid(self, process: Process) -> None:
        rpc, role = self.rpc(process), None
        if self.voting:
            files = ProcessFiles(self.node.disk, process)
            role = MasterRole(
                files,
                self.paths,
                self.node.name,
                process,
                self.node.now,
                lambda: self.rpc(process),
                lambda error: self._leave(),
            )
            await role.take(Voting(), lead=False)
            rpc = MasterRpc(rpc, role.refused)
        luxid = await build_luxid(self._luxid_parts(process, rpc))
        self.luxid = luxid
        process.listenUNIX(str(self.paths.query_socket), luxid.factory)
        if role is not None:
            put(self.node.disk, self.paths.query_socket, b"")
            role.when_risen(luxid.catch_up.start_over)
            role.watch()
        self.is_up(self)

    def _luxid_parts(self, process: Process, rpc: INodeRpc) -> LuxidParts:
        """luxid asks WConfD over its socket, and reads the configuration from its file."""
        files = ProcessFiles(self.node.disk, process)
        launcher = ProcessJobLauncher(process, self.liveness, self.zygote.fork, self.zygote.kill)
        self.zygote.start(process, launcher.zygote_died)
        wconf = WconfClient(process, self.paths.wconfd_socket)
        process.listenUNIX(str(self.paths.runner_socket), ChannelFactory(launcher.welcome))
        return LuxidParts(
            own_name=self.node.name,
            paths=self.paths,
            files=files,
            clock=process,
            now=self.node.now,
            rpc=rpc,
            watch=ProcessFileWatch(self.node.disk, process),
            snapshot=FileSnapshot(files, self.paths).current,
            locks=wconf.lock_overview,
            wconfd_readings=wconf.readings,
            config=wconf.config(NOBODY),
            look_for_dead=wconf.look_for_dead,
            make_launcher=lambda: launcher,
            built=UNITS,
            ticks=lambda: int(process.seconds() * 1e9),
            worked=lambda: 0.0,
        )

    def kill_luxid(self) -> None:
        """End it at once; running jobs go on."""
        self.luxid_process.die()

    def _leave(self) -> None:
        """Another node is the master: all end with status 11, after which nobody starts them again, and so do the jobs."""
        self.wanted = False
        self.kill_luxid()
        self.kill_wconfd()
        self.end_jobs()

    def end_jobs(self) -> None:
        """End the zygote and the process of every job."""
        self.zygote.process.die()
        for process_id in list(self.zygote.runners):
            self.zygote.kill(process_id)

    def lose_power(self) -> None:
        """Everything here is gone."""
        for command in self.commands:
            command.die()
        self.kill_wconfd()
        self.kill_luxid()
        self.zygote.lose_power()
