"""Copies of job files on the master candidates: one transfer a node at a time, and the newest state of a file wins."""

from collections.abc import Callable, Collection, Iterable, Sequence, Set

from attrs import define, field, frozen
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.rpc.calls.queue import JobqueueUpdate
from ganeti_tx.rpc.interfaces import INodeRpc, NodeUnreachableError, RpcError
from ganeti_tx.runtime.time_limit import within

log = Logger()

#: No more than this many bytes travel in one call.
MAX_BATCH = 8 * 1024 * 1024
#: No more than this many bytes wait for a candidate that lags: nobody is held up who could send more and more.
MAX_WAITING = 4 * MAX_BATCH
#: Seconds for which anybody waits for a candidate's answer.
TIMEOUT = 5.0


@frozen
class _File:
    """A file's content and since when it is so."""

    data: bytes
    sequence: int


@define
class _Channel:
    """What one candidate has yet to get, and who waits for it."""

    node: NodeAddress
    pending: dict[str, _File] = field(factory=dict)
    waiters: list[Deferred[bool]] = field(factory=list)
    busy: bool = False
    #: Bytes of all that is pending.
    size: int = 0

    def put(self, name: str, file: _File) -> None:
        """The newest state of a file."""
        before = self.pending.get(name)
        self.pending[name] = file
        self.size += len(file.data) - (0 if before is None else len(before.data))

    def take(self, name: str) -> None:
        """A file does not wait any more."""
        self.size -= len(self.pending.pop(name).data)

    def drop(self) -> list[Deferred[bool]]:
        """Nothing that waits is sent; gives those who wait for it."""
        self.pending.clear()
        self.size = 0
        waiters, self.waiters = self.waiters, []
        return waiters


@define
class Replicator:
    """Sends job files to every candidate that `candidates` names at the time.

    A candidate that did not take a file is left alone, so that it holds nobody up, until `reopen`: whoever calls that
    also sees to it that the candidate gets what it lacks, and says so by `caught_up`. `shut` is told when one is left alone.
    One that takes a file without an answer is sent more, but nobody waits for it again until it answers.
    `moved` is told the names of all for whom nobody waits, when these change.
    """

    rpc: INodeRpc
    candidates: Callable[[], Sequence[NodeAddress]]
    sequence: Callable[[], int]
    shut: Callable[[str], object]
    clock: IReactorTime
    moved: Callable[[Set[str]], None] = lambda names: None
    #: Names of nodes that did not take a file, and are sent nothing.
    behind: set[str] = field(factory=set)
    _returning: set[str] = field(factory=set)
    _overdue: set[str] = field(factory=set)
    _told: Set[str] = frozenset()
    _before: Set[str] = frozenset()
    _down: set[str] = field(factory=set)
    _most_down: bool = False
    _why: str = ""
    _channels: dict[str, _Channel] = field(factory=dict)

    @property
    def lagging(self) -> Set[str]:
        """The names of those for whom nobody waits: they did not take something, or have yet to answer or to catch up."""
        return self.behind | self._returning | self._overdue | self._told

    def told(self, names: Collection[str]) -> None:
        """Somebody who sends copies, too, does not wait for these."""
        self._told = frozenset(names)

    def reopen(self, name: str) -> None:
        """Send to the node again from now on."""
        if name in self.behind:
            self.behind.discard(name)
            self._returning.add(name)

    def caught_up(self, name: str) -> None:
        """The node has what it lacked: it is waited for again."""
        self._returning.discard(name)
        self._tell_moved()

    def _tell_moved(self) -> None:
        if self._before != (now := self.lagging):
            self._before = now
            self.moved(now)

    def leave_alone(self, name: str, error: RpcError) -> None:
        """The node did not take something: it lacks a part of the queue from now on."""
        self._why = str(error)
        self._say_down(name, self._why)
        self._returning.discard(name)
        self._overdue.discard(name)
        self.behind.add(name)
        self._tell_moved()
        self.shut(name)

    def _say_down(self, name: str, why: str) -> None:
        if name not in self._down:
            self._down.add(name)
            log.info("master candidate {name} does not get copies of jobs for now: {why}", name=name, why=why)

    def send(self, files: dict[str, bytes]) -> list[Deferred[bool]]:
        """Queue files (by name in the queue directory) for every candidate.

        A Deferred a candidate fires with whether it now has these files or newer ones.
        """
        return [self.send_to(node, files) for node in self.candidates()]

    def send_to(self, node: NodeAddress, files: dict[str, bytes]) -> Deferred[bool]:
        """The same for one node."""
        answer: Deferred[bool] = Deferred()
        if node.offline or node.name in self.behind:
            answer.callback(False)
            return answer
        channel = self._channels.setdefault(node.name, _Channel(node))
        channel.node = node
        for name, data in files.items():
            channel.put(name, _File(data, self.sequence()))
        channel.waiters.append(answer)
        if channel.size > MAX_WAITING and node.name in self.lagging:
            waiters = channel.drop()
            self.leave_alone(node.name, NodeUnreachableError(f"node {node.name} is too slow for all that it lacks"))
            tell(waiters, False)
            return answer
        if not channel.busy:
            channel.busy = True
            Deferred.fromCoroutine(self._drain(channel)).addErrback(self._broken, channel)
        return answer

    async def replicate(self, files: dict[str, bytes]) -> None:
        """Send, and wait for every candidate that does not lag, for each no longer than TIMEOUT.

        An error is logged only when more than half of them do not have the files (design-2.0).
        """
        answers = [self._in_time(node.name, self.send_to(node, files)) for node in self.candidates()]
        failed = 0
        for answer in answers:
            failed += not await answer
        self._judge(failed, len(answers))

    def _in_time(self, name: str, answer: Deferred[bool]) -> "Deferred[bool]":
        if answer.called:
            return answer
        if name in self.lagging:
            return succeed(False)
        return within(TIMEOUT, self.clock, answer).addCallback(self._heard, name)

    def _heard(self, taken: bool | None, name: str) -> bool:
        """Whether it took the files; None is no answer in time, after which nobody waits for the next one."""
        if taken is None and name not in self.lagging:
            self._why = f"no answer within {TIMEOUT:.0f} s"
            self._say_down(name, self._why)
            self._overdue.add(name)
            self._tell_moved()
        return bool(taken)

    def _judge(self, failed: int, asked: int) -> None:
        """Say once that most candidates fail, and once that they do not any more; who was only told of it says nothing."""
        most = failed * 2 > asked and bool(self._down)
        if most and not self._most_down:
            log.error(
                "{failed} of {all} master candidates do not take copies of jobs ({names}): {why}",
                failed=failed,
                all=asked,
                names=", ".join(sorted(self._down)[:5]),
                why=self._why,
            )
        elif self._most_down and not most:
            log.info("most master candidates take copies of jobs again")
        self._most_down = most

    async def _drain(self, channel: _Channel) -> None:
        """What the node does not take, it is not sent the rest after."""
        while channel.pending:
            batch, waiters = self._next_batch(channel)
            taken = False
            try:
                taken = await self._deliver(channel.node, batch)
            finally:
                if not taken:
                    waiters += channel.drop()
                tell(waiters, taken)
        channel.busy = False

    def _next_batch(self, channel: _Channel) -> tuple[dict[str, _File], list[Deferred[bool]]]:
        """As many files as one call carries; once they are all that is left, the waiters that it satisfies."""
        batch: dict[str, _File] = {}
        size = 0
        for name, file in list(channel.pending.items()):
            if batch and size + len(file.data) > MAX_BATCH:
                return batch, []
            batch[name] = file
            size += len(file.data)
            channel.take(name)
        waiters, channel.waiters = channel.waiters, []
        return batch, waiters

    async def _deliver(self, node: NodeAddress, batch: dict[str, _File]) -> bool:
        call = JobqueueUpdate(
            files=[(name, file.data.decode()) for name, file in batch.items()],
            sequences=[file.sequence for file in batch.values()],
        )
        try:
            await self.rpc.call(node, call)
        except RpcError as error:
            self.leave_alone(node.name, error)
            return False
        self._overdue.discard(node.name)
        self._tell_moved()
        if node.name in self._down and node.name not in self.behind:
            self._down.discard(node.name)
            log.info("master candidate {name} gets copies of jobs again", name=node.name)
        return True

    def _broken(self, failure: object, channel: _Channel) -> None:
        """A fault of ours: the channel opens again and nobody waits for ever."""
        log.error("job queue copy to {node} broke: {failure}", node=channel.node.name, failure=failure)
        channel.busy = False
        tell(channel.drop(), False)


def tell(waiters: Iterable[Deferred[bool]], taken: bool) -> None:
    """Whether the node has what these wait for."""
    for waiter in waiters:
        waiter.callback(taken)


Candidates = Callable[[], Sequence[NodeAddress]]
