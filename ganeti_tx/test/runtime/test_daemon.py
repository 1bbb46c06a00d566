"""How a daemon comes up, or does not."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from twisted.internet.defer import Deferred, succeed
from twisted.internet.error import CannotListenError, ReactorNotRunning
from twisted.internet.interfaces import IReactorCore
from twisted.logger import capturedLogs, formatEvent
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.mastership.this_node import NotMasterError
from ganeti_tx.runtime.daemon import Daemon, why
from ganeti_tx.runtime.paths import Paths


class SmallReactor:
    """As much of a reactor as a daemon's start needs."""

    def __init__(self) -> None:
        self.stopped = 0

    def callWhenRunning(self, function: Callable[[], Any]) -> None:
        """It runs."""
        function()

    def stop(self) -> None:
        """Once only, as the real one."""
        self.stopped += 1
        if self.stopped > 1:
            raise ReactorNotRunning("Can't stop reactor that isn't running.")


class DaemonTests(SynchronousTestCase):
    """Daemon with parts that come up or fail."""

    def setUp(self) -> None:
        """A node's directories."""
        self.paths = Paths(Path(self.mktemp()).absolute())
        self.pid_file = self.paths.pid_file("ganeti-test")
        self.reactor = SmallReactor()
        self.statuses: list[int] = []
        self.stopped: list[str] = []

    def daemon(self, starting: "Deferred[None]") -> Daemon:
        """A daemon whose start ends as the Deferred does."""

        async def stop() -> None:
            self.stopped.append("stopped")

        async def start() -> Any:
            await starting
            return stop

        return Daemon("ganeti-test", self.paths, cast(IReactorCore, self.reactor), start, self.statuses.append)

    def fatal(self, error: Exception) -> list[str]:
        """What is logged when the start fails with an error."""
        starting: Deferred[None] = Deferred()
        daemon = self.daemon(starting)
        with capturedLogs() as logged:
            daemon.startService()
            starting.errback(error)
        self.assertEqual(self.statuses, [1])
        self.assertEqual(self.reactor.stopped, 1)
        self.successResultOf(daemon.stopService())
        self.assertFalse(self.pid_file.exists())
        return [str(formatEvent(event)) for event in logged]

    def test_life(self) -> None:
        """While it is up its pid file is there; when it ends what was started is stopped."""
        starting: Deferred[None] = Deferred()
        daemon = self.daemon(starting)
        daemon.startService()
        self.assertTrue(self.pid_file.exists())
        starting.callback(None)
        self.successResultOf(daemon.stopService())
        self.assertEqual((self.stopped, self.statuses, self.pid_file.exists()), (["stopped"], [], False))

    def test_no_cluster(self) -> None:
        """An error of ours is one line, and the process ends with status 1."""
        self.assertEqual(self.fatal(ConfigurationError("no cluster")), ["fatal: no cluster"])

    def test_not_the_master(self) -> None:
        """An error after which a start is of no use has a status of its own, which the supervisor knows."""
        starting: Deferred[None] = Deferred()
        daemon = self.daemon(starting)
        daemon.startService()
        starting.errback(NotMasterError("node2 is"))
        self.assertEqual(self.statuses, [11])
        self.assertFalse(self.pid_file.exists())  # it shall not be taken for one that is up, as it tells systemd
        self.successResultOf(daemon.stopService())

    def test_leave(self) -> None:
        """A daemon that must not go on ends with its reason in the log, and stops what it had started."""
        daemon = self.daemon(succeed(None))
        daemon.startService()
        with capturedLogs() as logged:
            daemon.leave(NotMasterError("node2 is"))
        self.assertEqual([formatEvent(event) for event in logged], ["fatal: node2 is"])
        self.assertEqual((self.statuses, self.reactor.stopped), ([11], 1))
        self.successResultOf(daemon.stopService())
        self.assertEqual(self.stopped, ["stopped"])

    def test_port_in_use(self) -> None:
        """A port that is taken is one line that names it, and what to do; so is an address of another machine."""
        taken = CannotListenError("127.0.0.1", 1811, OSError(errno.EADDRINUSE, "Address already in use"))
        told = "cannot listen on 127.0.0.1:1811: Address already in use; see with 'ss -lntup' which program does"
        self.assertEqual(self.fatal(taken), [f"fatal: {told}"])
        foreign = CannotListenError("192.0.2.1", 80, OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address"))
        self.assertIn("no network interface of this machine has that address", str(why(foreign)))
        broken = CannotListenError("", 1811, OSError(errno.EBADF, "Bad file descriptor"))
        self.assertEqual(why(broken), "cannot listen on any address:1811: Bad file descriptor")

    def test_no_right(self) -> None:
        """What the system refuses is named with its file."""
        refused = PermissionError(errno.EACCES, "Permission denied", "/var/lib/ganeti/server.pem")
        self.assertEqual(self.fatal(refused), ["fatal: /var/lib/ganeti/server.pem: Permission denied"])

    def test_fault_of_ours(self) -> None:
        """Anything else is in the log in full."""
        self.assertEqual(self.fatal(ZeroDivisionError("division by zero")), ["fatal: ganeti-test cannot start"])
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)

    def test_end_while_starting(self) -> None:
        """A failure that comes while the reactor ends is told, and breaks nothing."""
        starting: Deferred[None] = Deferred()
        daemon = self.daemon(starting)
        daemon.startService()
        self.reactor.stop()
        with capturedLogs() as logged:
            starting.errback(ConfigurationError("too late"))
        self.assertEqual([formatEvent(event) for event in logged], ["fatal: too late"])
        self.successResultOf(daemon.stopService())

    def test_asked_to_end_while_starting(self) -> None:
        """What breaks since a daemon that comes up was asked to end is no failure."""
        starting: Deferred[None] = Deferred()
        daemon = self.daemon(starting)
        daemon.startService()
        self.successResultOf(daemon.stopService())
        with capturedLogs():
            starting.errback(ConfigurationError("nobody votes any more"))
        self.assertEqual(self.statuses, [])
