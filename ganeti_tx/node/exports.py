"""The exported instances of this node."""

from attrs import frozen

from ganeti_tx.node.answers import answers
from ganeti_tx.rpc.calls.backup import ExportList
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import IThreads


@frozen
class Exports:
    """Each is a directory of the instance's name."""

    files: IFiles
    paths: Paths
    threads: IThreads

    @answers(ExportList)
    async def names(self, call: ExportList) -> list[str]:
        """In order; hidden ones are not finished."""
        return await self.threads.run(self._names)

    def _names(self) -> list[str]:
        if not self.files.exists(self.paths.export_dir):
            return []
        return sorted(name for name in self.files.listdir(self.paths.export_dir) if not name.startswith("."))
