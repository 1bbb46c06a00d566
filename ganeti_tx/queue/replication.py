"""Copies of job files on the master candidates: one transfer a node at a time, and the newest state of a file wins."""

from collections.abc import Awaitable, Callable, Sequence

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.rpc.calls import JobqueueUpdate
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError

log = Logger()

#: No more than this many bytes travel in one call.
MAX_BATCH = 8 * 1024 * 1024


@define
class _Channel:
    """What one candidate has yet to get, and who waits for it."""

    node: NodeAddress
    pending: dict[str, bytes] = field(factory=dict)
    waiters: list[Deferred[bool]] = field(factory=list)
    busy: bool = False


@define
class Replicator:
    """Sends job files to every candidate that `candidates` names at the time."""

    rpc: INodeRpc
    candidates: Callable[[], Sequence[NodeAddress]]
    #: Names of nodes that did not take a file.
    behind: set[str] = field(factory=set)
    _channels: dict[str, _Channel] = field(factory=dict)

    def send(self, files: dict[str, bytes]) -> list[Deferred[bool]]:
        """Queue files (by name in the queue directory) for every candidate.

        A Deferred a candidate fires with whether it now has these files or newer ones.
        """
        return [self.send_to(node, files) for node in self.candidates()]

    def send_to(self, node: NodeAddress, files: dict[str, bytes]) -> Deferred[bool]:
        """The same for one node."""
        channel = self._channels.setdefault(node.name, _Channel(node))
        channel.node = node
        channel.pending.update(files)
        answer: Deferred[bool] = Deferred()
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
        if failed * 2 > len(answers):
            log.error(
                "{failed} of {all} master candidates did not take {files}",
                failed=failed,
                all=len(answers),
                files=", ".join(sorted(files)[:5]),
            )

    async def _drain(self, channel: _Channel) -> None:
        complete = True
        while channel.pending:
            batch, waiters = self._next_batch(channel)
            taken = False
            try:
                taken = await self._deliver(channel.node, batch)
            finally:
                complete = complete and taken
                for waiter in waiters:
                    waiter.callback(complete)
            complete = complete or bool(waiters)
        channel.busy = False

    def _next_batch(self, channel: _Channel) -> tuple[list[tuple[str, bytes]], list[Deferred[bool]]]:
        """As many files as one call carries; once they are all that is left, the waiters that it satisfies."""
        batch: list[tuple[str, bytes]] = []
        size = 0
        for name, data in list(channel.pending.items()):
            if batch and size + len(data) > MAX_BATCH:
                return batch, []
            batch.append((name, data))
            size += len(data)
            del channel.pending[name]
        waiters, channel.waiters = channel.waiters, []
        return batch, waiters

    async def _deliver(self, node: NodeAddress, batch: list[tuple[str, bytes]]) -> bool:
        try:
            await self.rpc.call(node, JobqueueUpdate(files=[(name, data.decode()) for name, data in batch]))
        except RpcError as error:
            self.behind.add(node.name)
            log.warn("job queue copy: {error}", error=error)
            return False
        return True

    def _broken(self, failure: object, channel: _Channel) -> None:
        """A fault of ours: the channel opens again and nobody waits for ever."""
        log.error("job queue copy to {node} broke: {failure}", node=channel.node.name, failure=failure)
        channel.busy = False
        waiters, channel.waiters = channel.waiters, []
        for waiter in waiters:
            waiter.callback(False)


Candidates = Callable[[], Sequence[NodeAddress]]
Replicate = Callable[[dict[str, bytes]], Awaitable[None]]
