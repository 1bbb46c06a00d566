"""The master daemons of a simulated cluster: WConfD, luxid and the zygote, which end and begin at a test's word."""

from twisted.internet.defer import Deferred

from ganeti_tx.config.file_snapshot import FileSnapshot
from ganeti_tx.luxid.service import Luxid, LuxidParts, build_luxid
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.queue.runners.process_launcher import ProcessJobLauncher
from ganeti_tx.queue.runners.runner_channel import ChannelFactory
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.entropy import SeededEntropy
from ganeti_tx.test.fakes.livelock import FakeLiveness
from ganeti_tx.test.inprocess.disk import ProcessFiles, ProcessFileWatch
from ganeti_tx.test.inprocess.launcher import InProcessZygote
from ganeti_tx.test.inprocess.network import Network, NetworkRpc
from ganeti_tx.test.inprocess.node import SimulatedNode
from ganeti_tx.test.inprocess.simulation import Process, SimulatedTime
from ganeti_tx.wconf.client import NOBODY, WconfClient
from ganeti_tx.wconfd.service import Wconfd, WconfdParts, build_wconfd

#: Simulated seconds after which what has not ended never will.
PATIENCE = 30 * 86400.0


class MasterDaemons:
    """Each daemon is a process of its own on the master node."""

    time: SimulatedTime
    network: Network
    liveness: FakeLiveness
    paths: Paths
    entropy: SeededEntropy
    wconfd: Wconfd
    luxid: Luxid
    zygote: InProcessZygote
    wconfd_process: Process
    _answering: Process
    luxid_process: Process

    @property
    def master(self) -> SimulatedNode:
        """The node that they run on."""
        raise NotImplementedError

    def new_process(self, name: str) -> Process:
        """One more simulated process."""
        raise NotImplementedError

    @property
    def config(self) -> ConfigData:
        """The configuration that is on disk."""
        return self.wconfd.store.snapshot

    # WConfD

    def start_wconfd(self) -> None:
        """Start WConfD over the files that are there, and wait until it is up."""
        self.time.run_deferred(self.start_wconfd_later(), PATIENCE)

    def start_wconfd_later(self) -> "Deferred[None]":
        """Start it; fires when it is up. @raise ConfigurationError: it cannot start."""
        process = self.wconfd_process = self.new_process("wconfd")
        parts = WconfdParts(
            own_name=self.master.name,
            paths=self.paths,
            files=ProcessFiles(self.master.disk, process),
            clock=process,
            now=self.master.now,
            make_rpc=lambda: NetworkRpc(self.network, process, self.master.name),
            liveness=self.liveness,
            entropy=self.entropy,
        )
        return Deferred.fromCoroutine(build_wconfd(parts)).addCallback(lambda up: self._wconfd_up(process, up))

    @property
    def wconfd_is_up(self) -> bool:
        """Whether `wconfd` is one that lives."""
        return self._answering is self.wconfd_process and self.wconfd_process.alive

    def _wconfd_up(self, process: Process, wconfd: Wconfd) -> None:
        self.wconfd, self._answering = wconfd, process
        process.listenUNIX(str(self.paths.wconfd_socket), wconfd.factory)

    def kill_wconfd(self) -> None:
        """End it at once; what it had not written is lost."""
        self.wconfd_process.die()

    # luxid

    def start_luxid(self) -> None:
        """Start luxid over the files that are there, and wait until it is up."""
        self.time.run_deferred(self.start_luxid_later(), PATIENCE)

    def start_luxid_later(self) -> "Deferred[None]":
        """Start it; fires when it is up. @raise OSError, GanetiError: it cannot start."""
        process = self.luxid_process = self.new_process("luxid")
        parts = self._luxid_parts(process)
        return Deferred.fromCoroutine(build_luxid(parts)).addCallback(lambda up: self._luxid_up(process, up))

    def _luxid_parts(self, process: Process) -> LuxidParts:
        """luxid asks WConfD over its socket, and reads the configuration from its file."""
        files = ProcessFiles(self.master.disk, process)
        launcher = ProcessJobLauncher(process, self.liveness, self.zygote.fork, self.zygote.kill)
        self.zygote.start(process, launcher.zygote_died)
        wconf = WconfClient(process, self.paths.wconfd_socket)
        process.listenUNIX(str(self.paths.runner_socket), ChannelFactory(launcher.welcome))
        return LuxidParts(
            own_name=self.master.name,
            paths=self.paths,
            files=files,
            clock=process,
            now=self.master.now,
            rpc=NetworkRpc(self.network, process, self.master.name),
            watch=ProcessFileWatch(self.master.disk, process),
            snapshot=FileSnapshot(files, self.paths).current,
            locks=wconf.lock_overview,
            config=wconf.config(NOBODY),
            look_for_dead=wconf.look_for_dead,
            make_launcher=lambda: launcher,
            ticks=lambda: int(process.seconds() * 1e9),
        )

    def _luxid_up(self, process: Process, luxid: Luxid) -> None:
        self.luxid = luxid
        process.listenUNIX(str(self.paths.query_socket), luxid.factory)

    def kill_luxid(self) -> None:
        """End it at once; running jobs go on."""
        self.luxid_process.die()
