"""Copies of job files on the master candidates: one transfer a node at a time, and the newest state of a file wins."""

from collections.abc import Callable, Sequence

from attrs import define, field, frozen
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.rpc.calls import JobqueueUpdate
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError

log = Logger()

#: No more than this many bytes travel in one call.
MAX_BATCH = 8 * 1024 * 1024


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


@define
class Replicator:
    """Sends job files to every candidate that `candidates` names at the time.

    A candidate that did not take a file is left alone, so that it holds nobody up, until `reopen`: whoever calls that
    also sees to it that the candidate gets what it lacks. `shut` is told when one is left alone.
    """

    rpc: INodeRpc
    candidates: Callable[[], Sequence[NodeAddress]]
    sequence: Callable[[], int]
    shut: Callable[[str], None]
    #: Names of nodes that did not take a file.
    behind: set[str] = field(factory=set)
    _down: set[str] = field(factory=set)
    _most_down: bool = False
    _why: str = ""
    _channels: dict[str, _Channel] = field(factory=dict)

    def reopen(self, name: str) -> None:
        """Send to the node again from now on."""
        self.behind.discard(name)

    def leave_alone(self, name: str, error: RpcError) -> None:
        """The node did not take something: it lacks a part of the queue from now on."""
        self._why = str(error)
        if name not in self._down:
            self._down.add(name)
            log.info("master candidate {name} does not get copies of jobs for now: {error}", name=name, error=error)
        self.behind.add(name)
        self.shut(name)

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
        channel.pending.update({name: _File(data, self.sequence()) for name, data in files.items()})
        channel.waiters.append(answer)
        if not channel.busy:
            channel.busy = True
            Deferred.fromCoroutine(self._drain(channel)).addErrback(self._broken, channel)
        return answer

    async def replicate(self, files: dict[str, bytes]) -> None:
        """Send and wait for every candidate; an error in the log only when more than half of them failed (design-2.0)."""
        answers = self.send(files)
        failed = 0
        for answer in answers:
            failed += not await answer
        self._judge(failed, len(answers))

    def _judge(self, failed: int, asked: int) -> None:
        """Say once that most candidates fail, and once that they do not any more."""
        most = failed * 2 > asked
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
                    channel.pending.clear()
                    waiters, channel.waiters = [*waiters, *channel.waiters], []
                for waiter in waiters:
                    waiter.callback(taken)
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
            del channel.pending[name]
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
        if node.name in self._down:
            self._down.discard(node.name)
            log.info("master candidate {name} gets copies of jobs again", name=node.name)
        return True

    def _broken(self, failure: object, channel: _Channel) -> None:
        """A fault of ours: the channel opens again and nobody waits for ever."""
        log.error("job queue copy to {node} broke: {failure}", node=channel.node.name, failure=failure)
        channel.busy = False
        waiters, channel.waiters = channel.waiters, []
        for waiter in waiters:
            waiter.callback(False)


Candidates = Callable[[], Sequence[NodeAddress]]
