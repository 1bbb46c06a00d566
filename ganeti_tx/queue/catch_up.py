"""The whole queue for a candidate that lacks a part of it: it is new, was away, or did not take a file."""

from collections.abc import Awaitable, Callable, Iterable, Sequence

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.queue.job import MAX_JOB_FILE
from ganeti_tx.queue.replication import Candidates, Replicator
from ganeti_tx.queue.store import JobStore

log = Logger()

#: So many job files are read at a time.
AT_A_TIME = 100


@define
class CatchUp:
    """Knows which candidates have every live job; `look` sees to the others.

    Copies travel through the replicator, so that none overtakes a newer one. A job that a process is busy with is
    left to that process, which makes its own copies, and is sent once more when it is over. Last comes the rest, which
    is no job file.
    """

    store: JobStore
    replicator: Replicator
    candidates: Candidates
    is_followed: Callable[[int], bool]
    when_over: Callable[[int], Awaitable[None]]
    bring_rest: Callable[[NodeAddress], Awaitable[bool]]
    _complete: set[str] = field(factory=set)
    _under_way: set[str] = field(factory=set)

    def look(self) -> None:
        """Begin to serve the candidates that lack something; to be called when there may be some."""
        reachable = {node.name: node for node in self.candidates() if not node.offline}
        self._complete &= reachable.keys() - self.replicator.behind
        for name in sorted(reachable.keys() - self._complete - self._under_way):
            self._under_way.add(name)
            serving = Deferred.fromCoroutine(self._serve(reachable[name]))
            serving.addErrback(lambda failure: log.failure("a candidate could not be given the queue", failure))

    async def _serve(self, node: NodeAddress) -> None:
        self.replicator.behind.discard(node.name)
        try:
            busy = [job_id for job_id in self.store.jobs if self.is_followed(job_id)]
            settled = [f"job-{job_id}" for job_id in self.store.jobs if not self.is_followed(job_id)]
            if not await self._bring(node, [*settled, "serial", "version"]):
                return
            for job_id in busy:
                await self.when_over(job_id)
                if not await self._bring(node, [f"job-{job_id}"]):
                    return
            if not await self.bring_rest(node):
                return
            self._complete.add(node.name)
        finally:
            self._under_way.discard(node.name)

    async def _bring(self, node: NodeAddress, names: Sequence[str]) -> bool:
        """Whether the node took them all."""
        for start in range(0, len(names), AT_A_TIME):
            files = self._read(names[start : start + AT_A_TIME])
            if files and not await self.replicator.send_to(node, files):
                return False
        return True

    def _read(self, names: Iterable[str]) -> dict[str, bytes]:
        """What is on disk now, which is never older than what is on its way; what was archived meanwhile is not there."""
        paths = {name: self.store.paths.queue_dir / name for name in names}
        return {
            name: self.store.files.read(path, MAX_JOB_FILE)
            for name, path in paths.items()
            if self.store.files.exists(path)
        }
