"""What every daemon's start has in common: it comes up whole, or ends with one line that says why not."""

import atexit
import errno
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence

from twisted.application.service import Service
from twisted.internet.defer import Deferred
from twisted.internet.error import CannotListenError, ReactorNotRunning
from twisted.internet.interfaces import IReactorCore
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.errors import ExitCode, GanetiError, one_line
from ganeti_tx.model.host_port import host_port
from ganeti_tx.runtime.daemon_user import prepare
from ganeti_tx.runtime.file_lock import HeldFile
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.files_leftovers import remove_leftovers
from ganeti_tx.runtime.garbage import spare_what_is_here
from ganeti_tx.runtime.path_modes import DIRECTORY_MODES
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import claim_pid_file
from ganeti_tx.runtime.readiness import NOTHING_TO_DO, Starter

log = Logger()

#: What to do when the system lets nobody listen there.
LISTEN_ADVICE: Mapping[int | None, str] = {
    errno.EADDRINUSE: "see with 'ss -lntup' which program does",
    errno.EADDRNOTAVAIL: "no network interface of this machine has that address",
    errno.EACCES: "only root may have ports below 1024",
}
#: Stops what was started; may wait.
Stop = Callable[[], Awaitable[None]]


def end_with(status: int) -> None:
    """Let this process end with a status when it ends; twistd itself always gives 0."""

    def leave() -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)

    atexit.register(leave)


def why(error: BaseException | None) -> str | None:
    """What the operator can do something about, in one line; None for a fault of ours."""
    if isinstance(error, GanetiError):
        return one_line(error)
    if isinstance(error, CannotListenError):
        return cannot_listen(error)
    if isinstance(error, OSError):
        return reason(error)
    return None


def cannot_listen(error: CannotListenError) -> str:
    """Where, why, and what to do about it."""
    where = error.interface if error.port is None else host_port(error.interface or "any address", error.port)
    code = getattr(error.socketError, "errno", None)
    told = os.strerror(code) if code is not None else one_line(error.socketError)
    advice = LISTEN_ADVICE.get(code)
    return f"cannot listen on {where}: {told}" + (f"; {advice}" if advice else "")


class Daemon(Service):
    """Runs `start`, which gives what stops it. A failure to start ends the process with its text as the last line."""

    def __init__(
        self,
        name: str,
        paths: Paths,
        reactor: IReactorCore,
        start: Callable[[], Awaitable[Stop]],
        end_with: Callable[[int], None] = end_with,
        replaces: Sequence[str] = (),
    ) -> None:
        """@param replaces: the daemons whose work this one does; they do not run beside it."""
        self._daemon = name
        self._paths = paths
        self._pid_paths = [paths.pid_file(each) for each in (name, *replaces)]
        self._starter = Starter(os.environ)
        self._reactor = reactor
        self._start = start
        self._end_with = end_with
        self._stop: Stop | None = None
        self._pid_files: list[HeldFile] = []

    def startService(self) -> None:
        """Called by twistd before the reactor runs; the work begins when it does."""
        super().startService()
        self._reactor.callWhenRunning(self._begin)

    def _begin(self) -> None:
        starting = Deferred.fromCoroutine(self._bring_up())
        starting.addErrback(self._give_up)

    async def _bring_up(self) -> None:
        prepare(self._paths)
        for left in remove_leftovers(self._paths.root / each.lstrip("/") for each in DIRECTORY_MODES):
            log.warn("removed {path}, which a program that died had not finished", path=str(left))
        for path in self._pid_paths:
            self._pid_files.append(claim_pid_file(path))
        self._stop = await self._start()
        spare_what_is_here()
        log.info("{daemon} is ready", daemon=self._daemon)
        self._starter.ready()

    def _give_up(self, failure: Failure) -> None:
        reason = why(failure.value)
        if reason is not None:
            log.error("fatal: {reason}", reason=reason)
        else:
            reason = f"{self._daemon} cannot start"
            log.failure("fatal: {reason}", failure, reason=reason)
        status = failure.value.exit_code if isinstance(failure.value, GanetiError) else ExitCode.FAILURE
        if status in NOTHING_TO_DO:
            self._release_pid_files()  # who then asks whether it runs shall not be told that it does
        self._starter.failed(status, reason)
        if self.running:  # else it was asked to end, and that broke what it was about: no failure
            self._end(status)

    def leave(self, error: GanetiError) -> None:
        """End a daemon that is up and must not go on, with the reason as the last line of its own."""
        log.error("fatal: {reason}", reason=one_line(error))
        self._starter.ends(one_line(error))
        self._end(error.exit_code)

    def _end(self, status: int) -> None:
        self._end_with(status)
        try:
            self._reactor.stop()
        except ReactorNotRunning:
            return  # the reactor was ending already, perhaps while we waited for something

    async def _bring_down(self) -> None:
        if self._stop is not None:
            self._starter.ends()
            await self._stop()
        self._release_pid_files()

    def _release_pid_files(self) -> None:
        while self._pid_files:
            self._pid_files.pop().release()

    def stopService(self) -> "Deferred[None]":
        """Called by twistd when the reactor ends; it waits for the Deferred."""
        super().stopService()
        return Deferred.fromCoroutine(self._bring_down())
