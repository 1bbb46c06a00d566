"""What a candidate's copy of the queue lacks: found by digests, so that only that need be sent."""

from collections.abc import Collection, Iterable, Sequence

from attrs import define
from twisted.logger import Logger

from ganeti_tx.model.digest import digest_of
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.queue.job import MAX_JOB_FILE
from ganeti_tx.rpc.calls import JobqueueDigests
from ganeti_tx.rpc.interfaces import INodeRpc
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

log = Logger()

#: So many files are read and compared at a time.
AT_A_TIME = 100


@define
class Comparison:
    """Compares job files here with a node's."""

    files: IFiles
    paths: Paths
    rpc: INodeRpc

    async def lacking(self, node: NodeAddress, names: Sequence[str]) -> list[str]:
        """Which of a few files are others there than here, or are not there. @raise RpcError: the node does not answer."""
        known = await self.rpc.call(node, JobqueueDigests(names=list(names)))
        here = self.read(names)
        return [name for name, data in here.items() if known.get(name) != digest_of(data)]

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
