"""luxid's end of the zygote: it is kept alive, and asked for runners."""

import os
import sys
from collections.abc import Callable
from typing import Any

from attrs import define
from twisted.internet.interfaces import IProcessTransport, IReactorProcess
from twisted.internet.protocol import ProcessProtocol
from twisted.logger import Logger
from twisted.python.failure import Failure

log = Logger()

FORK = b"f"
#: Seconds before a zygote that died is replaced.
RESTART_DELAY = 0.5


class _Output(ProcessProtocol):
    """What the zygote and its runners say goes into our log."""

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended

    def outReceived(self, data: bytes) -> None:
        self._say(data)

    def errReceived(self, data: bytes) -> None:
        self._say(data)

    def _say(self, data: bytes) -> None:
        for line in data.decode("utf-8", "replace").splitlines():
            log.info("job process: {line}", line=line)

    def processExited(self, reason: Failure) -> None:
        self._ended()


@define
class Zygote:
    """Starts the zygote and starts it again when it dies. `died` is told, since asked-for forks are lost with it."""

    reactor: Any
    died: Callable[[], None]
    _process: IProcessTransport | None = None
    _stopping: bool = False

    def start(self) -> None:
        """Start it now."""
        reactor: IReactorProcess = self.reactor
        argv = [sys.executable, "-m", "ganeti_tx.jobs.zygote"]
        self._process = reactor.spawnProcess(_Output(self._ended), sys.executable, argv, env=dict(os.environ))

    def fork(self) -> None:
        """Ask for one more runner."""
        if self._process is not None:
            self._process.writeToChild(0, FORK)

    def stop(self) -> None:
        """End it; runners that have a job go on."""
        self._stopping = True
        if self._process is not None:
            self._process.closeStdin()

    def _ended(self) -> None:
        self._process = None
        if self._stopping:
            return
        log.error("the zygote of the job processes died; starting another")
        self.reactor.callLater(RESTART_DELAY, self._restart)

    def _restart(self) -> None:
        if not self._stopping:
            self.start()
            self.died()
