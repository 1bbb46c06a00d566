"""Job runners as simulated processes: the real launcher and the real runner, with a zygote that forks in memory."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from attrs import define, field

from ganeti_tx.jobs.runner import Runner, RunnerParts
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.livelock import FakeLiveness
from ganeti_tx.test.inprocess.disk import ProcessFiles
from ganeti_tx.test.inprocess.network import Network, NetworkRpc
from ganeti_tx.test.inprocess.power import LosingFiles
from ganeti_tx.test.inprocess.simulation import Process
from ganeti_tx.wconf.client import WconfClient

#: Seconds from the order to fork to the runner's first step.
FORK_TIME = 0.01
FIRST_PROCESS_ID = 2001


@define(eq=False)
class InProcessZygote:
    """Forks runners, and kills them: a process that has died does nothing more and its livelock is free."""

    new_process: Callable[[str], Process]
    disk: LosingFiles
    paths: Paths
    network: Network
    liveness: FakeLiveness
    own_name: str
    resolve: Callable[[str], Awaitable[tuple[str, str]]]
    runners: dict[int, Process] = field(factory=dict)
    _last: int = FIRST_PROCESS_ID - 1

    def fork(self, parent: Process) -> None:
        """Make one more runner, which connects to luxid by itself."""
        parent.callLater(FORK_TIME, self._fork)

    def _fork(self) -> None:
        self._last += 1
        process_id = self._last
        process = self.runners[process_id] = self.new_process(f"runner-{process_id}")
        livelock = self.liveness.start(self._livelock(process_id))
        files = ProcessFiles(self.disk, process)
        parts = RunnerParts(
            paths=self.paths,
            reactor=process,
            livelock=str(livelock),
            process_id=process_id,
            own_name=self.own_name,
            files=files,
            rpc=NetworkRpc(self.network, process),
            wconf=WconfClient(process, self.paths.wconfd_socket),
            resolve=self.resolve,
            now=process.seconds,
            end=lambda: self.kill(process_id),
        )
        process.callLater(0, Runner(parts).begin)

    def _livelock(self, process_id: int) -> Path:
        return self.paths.livelock_dir / f"job_{process_id}"

    def kill(self, process_id: int, signal: int = 9) -> None:
        """End a runner at once, wherever it is."""
        self.runners.pop(process_id).die()
        self.liveness.die(self._livelock(process_id))
