"""Changes in memory are told."""

from pathlib import Path

from ganeti_tx.test.contracts.file_watch import FileWatchContract
from ganeti_tx.test.fakes.file_watch import MemoryFileWatch
from ganeti_tx.test.fakes.files import MemoryFiles


class MemoryFileWatchTests(FileWatchContract):
    """The contract in memory."""

    def setUp(self) -> None:
        """An empty directory."""
        files = MemoryFiles()
        self.files, self.top, self.file_watch = files, Path("/top"), MemoryFileWatch(files)
        files.mkdir(self.top)


del FileWatchContract  # trial would run it on its own
