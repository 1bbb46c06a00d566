"""The candidates' copies follow what happens to the queue besides new states of jobs: archiving, and the drain flag."""

from collections.abc import Awaitable, Callable, Sequence, Set

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.queue.copies.replication import TIMEOUT, Candidates
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.queue import JobqueueRename, JobqueueSetDrainFlag, JobqueueSweep
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError
from ganeti_tx.runtime.time_limit import within

log = Logger()

#: Renames in one call; a node does no more in one go.
MAX_RENAMES = 1000

Rename = tuple[str, str]


@define
class QueueCopies:
    """Tells every candidate, one call a node at a time; who did not take one is behind, and put right by `complete`.

    @ivar missed: told of a node that did not take something.
    @ivar live_jobs: the ids of all live jobs, and the last id given, at one moment.
    @ivar is_drained: whether the drain flag is set here.
    @ivar lagging: the names of those for whom nobody waits.
    """

    rpc: INodeRpc
    candidates: Candidates
    missed: Callable[[str, RpcError], None]
    live_jobs: Callable[[], Awaitable[tuple[list[int], int]]]
    is_drained: Callable[[], bool]
    clock: IReactorTime
    lagging: Callable[[], Set[str]] = lambda: frozenset()
    _renames: dict[str, list[Rename]] = field(factory=dict)

    def rename(self, renames: Sequence[Rename]) -> None:
        """Have files of archived jobs moved; what comes while a call is under way travels together in the next."""
        for node in self.candidates():
            waiting = self._renames.get(node.name)
            if waiting is not None:
                waiting.extend(renames)
                continue
            self._renames[node.name] = list(renames)
            moving = Deferred.fromCoroutine(self._move(node))
            moving.addErrback(lambda failure: log.failure("copies of archived jobs were not moved", failure))

    async def _move(self, node: NodeAddress) -> None:
        waiting = self._renames[node.name]
        try:
            while waiting:
                batch, waiting[:MAX_RENAMES] = waiting[:MAX_RENAMES], []
                if not await self._call(node, JobqueueRename(renames=batch)):
                    return
        finally:
            del self._renames[node.name]

    async def tell_drained(self, drained: bool) -> None:
        """Have the drain flag set or removed on every candidate; the last word is what stays, as its stamp is the latest."""
        lagging = self.lagging()
        heard = []
        for node in self.candidates():
            telling = Deferred.fromCoroutine(self._call(node, JobqueueSetDrainFlag(drained=drained)))
            heard.append(within(0.0 if node.name in lagging else TIMEOUT, self.clock, telling))
        for each in heard:
            await each

    async def complete(self, node: NodeAddress) -> bool:
        """Put right what a candidate missed: it archives the jobs that are not live, and has the flag as it is here.

        Whether it took all. To be called when it has every live job.
        """
        live, last_id = await self.live_jobs()
        if not await self._call(node, JobqueueSweep(live=live, up_to=last_id)):
            return False
        return await self._call(node, JobqueueSetDrainFlag(drained=self.is_drained()))

    async def _call(self, node: NodeAddress, call: NodeCall[object]) -> bool:
        try:
            await self.rpc.call(node, call)
        except RpcError as error:
            self.missed(node.name, error)
            return False
        return True
