"""The newest queue for a candidate that lacks a part of it: it is new, was away, or did not take a file."""

from collections.abc import Awaitable, Callable, Sequence

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.queue.copies.comparison import AT_A_TIME, Comparison, names_of
from ganeti_tx.queue.copies.pauses import Pauses
from ganeti_tx.queue.copies.replication import Candidates, Replicator
from ganeti_tx.queue.files.store import JobStore
from ganeti_tx.rpc.interfaces import RpcError

log = Logger()

#: Seconds after the last word of a job's process until its copies are compared.
CHECK_DELAY = 3.0


@define(eq=False)
class CatchUp:
    """Knows which candidates have every live job; `look` sees to the others, and they are tried until they have it.

    Copies travel through the replicator, so that none overtakes a newer one; what a candidate has already is not sent.
    A job that a process is busy with is left to that process, which makes its own copies; they are compared when it is
    over, for nobody else knows whether they arrived. Last comes the rest, which is no job file.
    """

    store: JobStore
    replicator: Replicator
    candidates: Candidates
    is_followed: Callable[[int], bool]
    when_over: Callable[[int], Awaitable[None]]
    bring_rest: Callable[[NodeAddress], Awaitable[bool]]
    comparison: Comparison
    clock: IReactorTime
    pauses: Pauses = field(init=False)
    _complete: set[str] = field(factory=set)
    _under_way: set[str] = field(factory=set)
    _outdated: set[str] = field(factory=set)
    _unsure: set[int] = field(factory=set)
    _awaited: set[int] = field(factory=set)
    _later: set[int] = field(factory=set)
    _check_due: IDelayedCall | None = None
    _stopped: bool = False

    def __attrs_post_init__(self) -> None:
        self.pauses = Pauses(self.clock, lambda name: self.look())

    def look(self) -> None:
        """Begin to serve the candidates that lack something; to be called when there may be some."""
        if self._stopped:
            return
        reachable = self._reachable()
        self.pauses.keep(reachable)
        self._complete &= reachable.keys() - self.replicator.behind
        for name in sorted(reachable.keys() - self._complete - self._under_way):
            if name not in self.pauses:
                self._begin(reachable[name])

    def start_over(self) -> None:
        """See to every candidate again, as in a new term; who is being served is served once more."""
        self._outdated |= self._under_way
        self._complete.clear()
        for name in self._reachable():
            self.pauses.end(name)
        self.look()

    def lacks(self, name: str) -> None:
        """A candidate did not take something: try again in a while."""
        self._complete.discard(name)
        if name not in self._under_way and not self._stopped:
            self.pauses.begin(name)

    def changed(self, job_id: int) -> None:
        """A job's file was written by its process: see in a while whether the copies are the same."""
        self._unsure.add(job_id)
        self._check_after(CHECK_DELAY)

    def _check_after(self, delay: float) -> None:
        """Compare what is unsure then, or earlier if that is due."""
        if self._stopped:
            return
        if self._check_due is None:
            self._check_due = self.clock.callLater(delay, self._check)
        elif self._check_due.getTime() > self.clock.seconds() + delay:
            self._check_due.reset(delay)

    def _wait_for(self, job_id: int) -> None:
        """Compare a job's copies as soon as its process has left it, of which a new candidate knows nothing."""
        if job_id not in self._awaited:
            self._awaited.add(job_id)
            waiting = Deferred.fromCoroutine(self._until_over(job_id))
            waiting.addErrback(lambda failure: log.failure("the end of a job was missed", failure))

    async def _until_over(self, job_id: int) -> None:
        await self.when_over(job_id)
        self._awaited.discard(job_id)
        self._unsure.add(job_id)
        self._check_after(0.0)

    def stop(self) -> None:
        """Nothing more is begun."""
        self._stopped = True
        self.pauses.stop()
        if self._check_due is not None:
            self._check_due.cancel()
            self._check_due = None

    def _reachable(self) -> dict[str, NodeAddress]:
        return {node.name: node for node in self.candidates() if not node.offline}

    def _begin(self, node: NodeAddress) -> None:
        self._under_way.add(node.name)
        serving = Deferred.fromCoroutine(self._serve(node))
        serving.addErrback(lambda failure: log.failure("a candidate could not be given the queue", failure))

    async def _serve(self, node: NodeAddress) -> None:
        """All that the node lacks; what changes meanwhile it is sent as every candidate."""
        self.replicator.reopen(node.name)
        try:
            busy = {job_id for job_id in self.store.live if self.is_followed(job_id)}
            settled = [job_id for job_id in self.store.live if job_id not in busy]
            names = [*names_of(settled), "serial", "version"]
            complete = await self._bring(node, names) and await self.bring_rest(node)
        except RpcError as error:
            self.replicator.leave_alone(node.name, error)
            complete = False
        finally:
            self._under_way.discard(node.name)
        if node.name in self._outdated:
            self._outdated.discard(node.name)
            complete = False
        if complete:
            self._complete.add(node.name)
            self.pauses.end(node.name)
            self.replicator.caught_up(node.name)
            for job_id in busy:
                self._wait_for(job_id)
            if self._later:
                self._unsure |= self._later
                self._later.clear()
                self._check_after(0.0)
        elif node.name in self._reachable():
            self.pauses.begin(node.name)

    async def _bring(self, node: NodeAddress, names: Sequence[str]) -> bool:
        """Whether the node took what it lacked of these. @raise RpcError: it does not answer."""
        for start in range(0, len(names), AT_A_TIME):
            if node.name not in self._reachable():
                return False  # it may have been told to forget the queue
            lacking = await self.comparison.lacking(node, names[start : start + AT_A_TIME])
            files = self.comparison.read(lacking)
            if files and not await self.replicator.send_to(node, files):
                return False
        return True

    def _check(self) -> None:
        """Compare the copies of jobs that are over."""
        self._check_due = None
        unsure, self._unsure = self._unsure, set()
        over = {job_id for job_id in unsure if not self.is_followed(job_id)}
        for job_id in unsure - over:
            self._wait_for(job_id)
        live = [job_id for job_id in over if self.store.glance(job_id) is not None]
        if self._under_way:
            self._later.update(live)  # these candidates may have got them before they were over
        for node in self._reachable().values():
            if live and node.name in self._complete:
                checking = Deferred.fromCoroutine(self._check_node(node, names_of(live)))
                checking.addErrback(lambda failure: log.failure("copies of jobs could not be compared", failure))

    async def _check_node(self, node: NodeAddress, names: Sequence[str]) -> None:
        try:
            complete = await self._bring(node, names)
        except RpcError as error:
            self.replicator.leave_alone(node.name, error)
            complete = False
        if not complete:
            self._complete.discard(node.name)
            self.look()
