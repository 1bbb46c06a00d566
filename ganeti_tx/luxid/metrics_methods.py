"""LUXI's method for what is counted in the whole cluster (doc/design/metrics.rst)."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Set

from attrs import define, field
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ganeti_tx.errors import GanetiError, error_text
from ganeti_tx.luxid.dispatch import Answer
from ganeti_tx.luxid.node_watch import NodeWatch
from ganeti_tx.metrics.config import WCONFD_UP
from ganeti_tx.metrics.jobs import (
    COPIES_BEHIND,
    DRAINED,
    QUEUE_LENGTH,
    RUNNERS,
    RUNNERS_DIED,
    RUNNERS_STARTED,
    RUNNING_LIMIT,
    SUBMITTED,
)
from ganeti_tx.metrics.luxi import CONNECTIONS
from ganeti_tx.metrics.nodes import NODES
from ganeti_tx.metrics.readings import Readings
from ganeti_tx.metrics.table import METRICS
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.node import Node
from ganeti_tx.queue.counting import describe_queue
from ganeti_tx.queue.scheduler import Scheduler
from ganeti_tx.runtime.own_process import OwnProcess

log = Logger()

#: Seconds for which WConfD, when it runs apart, is waited for.
WCONFD_LIMIT = 2.0
ROLES = ("master", "candidate", "regular", "drained", "offline")

#: Gives what WConfD has counted. @raise GanetiError: it is away.
WconfdReadings = Callable[[], Awaitable[Readings]]


@define
class MetricsMethods:
    """Puts together what luxid, the processes of jobs and WConfD have counted with what is so now."""

    tally: Tally
    snapshot: Callable[[], ConfigData]
    scheduler: Scheduler
    is_drained: Callable[[], bool]
    behind: Callable[[], Set[str]]
    nodes: NodeWatch
    wconfd: WconfdReadings
    process: OwnProcess | None
    clock: IReactorTime
    now: Callable[[], float]
    connections: Callable[[], int] = field(default=lambda: 0)

    def table(self) -> Mapping[str, Answer]:
        """Which method is which call."""
        return {"QueryMetrics": self.query}

    async def query(self) -> Readings:
        """All readings as of now; what the nodes said may be some seconds old."""
        await self.nodes.refresh()
        whole = Tally()
        whole.add(await self._of_wconfd(), METRICS)
        self._describe()
        whole.add(self.tally.readings(), METRICS)
        return whole.readings()

    async def _of_wconfd(self) -> Readings:
        asking = Deferred.fromCoroutine(awaited(self.wconfd))
        try:
            readings = await asking.addTimeout(WCONFD_LIMIT, self.clock)
        except (GanetiError, TimeoutError) as error:
            log.info("WConfD does not tell its metrics: {error}", error=error_text(error))
            self.tally.set(WCONFD_UP, 0)
            return Readings()
        self.tally.set(WCONFD_UP, 1)
        return readings

    def _describe(self) -> None:
        config = self.snapshot()
        names = {node.name for node in config.nodes.values()}
        self.tally.keep("node", names.__contains__)
        self._describe_queue()
        self._describe_nodes(config)
        self.nodes.describe(self.tally)
        self.tally.set(CONNECTIONS, self.connections())
        if self.process is not None:
            self.process.record()

    def _describe_queue(self) -> None:
        scheduler, tally = self.scheduler, self.tally
        describe_queue(tally, scheduler.store.live.values(), self.now())
        tally.set(QUEUE_LENGTH, len(scheduler.ready))
        tally.set(RUNNING_LIMIT, scheduler.running_limit())
        tally.set(DRAINED, self.is_drained())
        for counter in (SUBMITTED, RUNNERS_STARTED, RUNNERS_DIED):
            tally.count(counter, by=0)  # one that is not there cannot be seen to grow
        counts = scheduler.launcher.counts()
        for state, count in (("busy", counts.busy), ("idle", counts.idle), ("starting", counts.starting)):
            tally.set(RUNNERS, count, state)

    def _describe_nodes(self, config: ConfigData) -> None:
        roles = Counter(role(config, node) for node in config.nodes.values())
        for name in ROLES:
            self.tally.set(NODES, roles[name], name)
        self.tally.forget(COPIES_BEHIND)
        behind = self.behind()
        for node in config.nodes.values():
            if node.master_candidate and not node.offline and node.uuid != config.cluster.master_node:
                self.tally.set(COPIES_BEHIND, node.name in behind, node.name)


def role(config: ConfigData, node: Node) -> str:
    """One of ROLES."""
    if node.uuid == config.cluster.master_node:
        return "master"
    if node.offline:
        return "offline"
    if node.drained:
        return "drained"
    return "candidate" if node.master_candidate else "regular"


async def awaited(ask: WconfdReadings) -> Readings:
    """As a coroutine."""
    return await ask()
