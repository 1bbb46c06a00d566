"""Changes on the disk are told."""

from pathlib import Path
from typing import Any

from twisted.internet import reactor
from twisted.internet.task import deferLater

from ganeti_tx.runtime.file_watch import InotifyWatch
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.contracts.file_watch import FileWatchContract


class InotifyWatchTests(FileWatchContract):
    """The contract with the kernel."""

    def setUp(self) -> None:
        """An empty directory."""
        clock: Any = reactor
        self.files = RealFiles(InlineThreads())
        self.top = Path(self.mktemp()).absolute()
        self.files.mkdir(self.top)
        self.file_watch = InotifyWatch(clock)
        self.addCleanup(self.file_watch.stop)

    async def settle(self) -> None:
        """A second watch sees a change of ours: the kernel has told the first all that came before it."""
        marker = Path(self.mktemp()).absolute()
        self.files.mkdir(marker)
        clock: Any = reactor
        seen: list[str] = []
        last = InotifyWatch(clock)
        last.watch(marker, seen.append)
        await self.files.write_atomic(marker / "tick", b"")
        while not seen:
            await deferLater(reactor, 0.001)
        await deferLater(reactor, 0.02)  # twisted hands events on in turns of their own
        last.stop()


del FileWatchContract  # trial would run it on its own
