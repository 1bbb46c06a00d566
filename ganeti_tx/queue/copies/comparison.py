"""What a candidate's copy of the queue lacks: found by digests, so that only that need be sent."""

from collections.abc import Collection, Iterable, Sequence

from attrs import define, field
from twisted.logger import Logger

from ganeti_tx.model.digest import digest_of
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.queue.job import MAX_JOB_FILE
from ganeti_tx.rpc.calls.queue import JobqueueDigests
from ganeti_tx.rpc.interfaces import INodeRpc
from ganeti_tx.runtime.files import FileStat, IFiles
from ganeti_tx.runtime.paths import Paths

log = Logger()

#: So many files are read and compared at a time.
AT_A_TIME = 100
#: So many digests are remembered.
MAX_DIGESTS = 50_000


@define
class Comparison:
    """Compares job files here with a node's."""

    files: IFiles
    paths: Paths
    rpc: INodeRpc
    _digests: dict[str, tuple[FileStat, str]] = field(factory=dict)

    async def lacking(self, node: NodeAddress, names: Sequence[str]) -> list[str]:
        """Which of a few files are others there than here, or are not there. @raise RpcError: the node does not answer."""
        known = await self.rpc.call(node, JobqueueDigests(names=list(names)))
        return [name for name in names if (here := self._digest(name)) is not None and known.get(name) != here]

    def _digest(self, name: str) -> str | None:
        """Of a file here; one that has not changed is not read again for the next candidate."""
        try:
            stat = self.files.stat(self.paths.queue_dir / name)
        except OSError:
            return None
        known = self._digests.get(name)
        if known is None or known[0] != stat:
            data = self.read([name]).get(name)
            if data is None:
                return None
            if len(self._digests) >= MAX_DIGESTS:
                self._digests.clear()
            known = self._digests[name] = stat, digest_of(data)
        return known[1]

    def read(self, names: Iterable[str]) -> dict[str, bytes]:
        """What is on disk now, which is never older than what is on its way; what was archived meanwhile is not there."""
        found = {}
        for name in names:
            try:
                found[name] = self.files.read(self.paths.queue_dir / name, MAX_JOB_FILE)
            except FileNotFoundError:
                continue
            except OSError as error:
                log.warn("{name} cannot be copied: {reason}", name=name, reason=error.strerror)
        return found


def names_of(numbers: Collection[int]) -> list[str]:
    """The files of jobs."""
    return [f"job-{number}" for number in sorted(numbers)]
