"""Job runners as simulated processes: the real launcher and the real runner, with a zygote that forks in memory."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from attrs import define, field

from ganeti_tx.jobs.runner import Runner, RunnerParts
from ganeti_tx.logic.unit import UnitTable
from ganeti_tx.luxid.zygote_process import RESTART_DELAY
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.livelock import FakeLiveness
from ganeti_tx.test.inprocess.disk import ProcessFiles
from ganeti_tx.test.inprocess.network import Network, NetworkRpc, Origin
from ganeti_tx.test.inprocess.node import SimulatedNode
from ganeti_tx.test.inprocess.simulation import Process
from ganeti_tx.wconfd.protocol.client import WconfClient

#: Seconds from the order to fork to the runner's first step.
FORK_TIME = 0.01
FIRST_PROCESS_ID = 2001


@define(eq=False)
class InProcessZygote:
    """Forks runners, and kills them: a process that has died does nothing more and its livelock is free.

    Each luxid has a zygote of its own, which forks what it was told to even when that luxid has died meanwhile.
    """

    new_process: Callable[[str], Process]
    node: SimulatedNode
    paths: Paths
    network: Network
    liveness: FakeLiveness
    resolve: Callable[[str], Awaitable[tuple[str, str]]]
    units_of: Callable[[str], UnitTable]
    origin: Origin
    runners: dict[int, Process] = field(factory=dict)
    process: Process = field(init=False)
    _parent: Process = field(init=False)
    _died: Callable[[], None] = field(init=False)
    _last: int = FIRST_PROCESS_ID - 1

    def start(self, parent: Process, died: Callable[[], None]) -> None:
        """A luxid starts its zygote; `died` is told when there is another in the place of one that died."""
        self._parent, self._died = parent, died
        self.process = self.new_process("zygote")

    def die(self) -> None:
        """What it was told to fork is lost with it; luxid starts another."""
        self.process.die()
        self._parent.callLater(RESTART_DELAY, self._restart)

    def _restart(self) -> None:
        self.start(self._parent, self._died)
        self._died()

    def lose_power(self) -> None:
        """Everybody is gone, and so are the livelocks."""
        self.process.die()
        for process_id in list(self.runners):
            self.kill(process_id)
        self.liveness.remove_stale(self.paths.livelock_dir)

    def fork(self) -> None:
        """Make one more runner, which connects to luxid by itself."""
        self.process.arrive(FORK_TIME, self._fork)

    def _fork(self) -> None:
        self._last += 1
        process_id = self._last
        process = self.runners[process_id] = self.new_process(f"runner-{process_id}")
        livelock = str(self.liveness.start(self._livelock(process_id)))
        files = ProcessFiles(self.node.disk, process)
        parts = RunnerParts(
            paths=self.paths,
            reactor=process,
            livelock=livelock,
            process_id=process_id,
            own_name=self.node.name,
            files=files,
            rpc=NetworkRpc(self.network, process, self.origin),
            wconf=WconfClient(process, self.paths.wconfd_socket),
            resolve=self.resolve,
            ping=nobody_answers,
            now=self.node.now,
            ticks=lambda: int(process.seconds() * 1e9),
            end=lambda: self.kill(process_id),
            units=self.units_of(livelock),
        )
        process.callLater(0, Runner(parts).begin)

    def _livelock(self, process_id: int) -> Path:
        """Its name is no other process's, of whatever node, as real ones have the time in theirs."""
        return self.paths.livelock_dir / f"job_{process_id}_{self.node.name}"

    def kill(self, process_id: int, signal: int = 9) -> None:
        """End a runner at once, wherever it is."""
        process = self.runners.pop(process_id, None)
        if process is None:
            raise ProcessLookupError(process_id)
        process.die()
        self.liveness.die(self._livelock(process_id))


async def nobody_answers(_address: str) -> bool:
    """This network has no hosts but the nodes."""
    return False
