"""What a candidate's copy of the queue lacks: found by names and digests, so that only that need be sent."""

from collections.abc import Callable, Collection, Iterable, Sequence

from attrs import define
from twisted.logger import Logger

from ganeti_tx.model.digest import digest_of
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.queue.job import MAX_JOB_FILE
from ganeti_tx.queue.job_file import job_number
from ganeti_tx.rpc.calls import JobqueueDigests, JobqueueListing, JobqueueRename, JobqueueSetDrainFlag
from ganeti_tx.rpc.interfaces import INodeRpc
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

log = Logger()

#: So many files are read and compared at a time.
AT_A_TIME = 100


@define
class Comparison:
    """Compares the queue here with a node's. Every method raises RpcError when the node does not answer."""

    files: IFiles
    paths: Paths
    rpc: INodeRpc
    is_live: Callable[[int], bool]

    async def settle(self, node: NodeAddress) -> None:
        """Archive there what was archived here meanwhile, and make the drain flag the same."""
        listing = await self.rpc.call(node, JobqueueListing())
        numbers = [number for name in listing.files if (number := job_number(name)) is not None]
        gone = [number for number in numbers if not self.is_live(number)]
        for some in pieces(gone):
            await self.rpc.call(node, JobqueueRename(renames=[self._archived(number) for number in some]))
        drained = self.files.exists(self.paths.queue_drain_file)
        if drained != listing.drained:
            await self.rpc.call(node, JobqueueSetDrainFlag(drained=drained))

    def _archived(self, number: int) -> tuple[str, str]:
        path = self.paths.archived_job_file(number)
        return f"job-{number}", str(path.relative_to(self.paths.queue_dir))

    async def lacking(self, node: NodeAddress, names: Sequence[str]) -> list[str]:
        """Which of a few files are others there than here, or are not there."""
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


def pieces(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    """So many at a time."""
    return (numbers[start : start + AT_A_TIME] for start in range(0, len(numbers), AT_A_TIME))


def names_of(numbers: Collection[int]) -> list[str]:
    """The files of jobs."""
    return [f"job-{number}" for number in sorted(numbers)]
