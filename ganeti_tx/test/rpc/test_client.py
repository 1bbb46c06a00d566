"""Tests of what the client of the node daemons makes of failures."""

import errno

from twisted.internet.error import ConnectionDone, ConnectionLost, ConnectionRefusedError, TimeoutError, getConnectError
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rpc.client import reason
from ganeti_tx.rpc.http.errors import BadAnswer
from ganeti_tx.runtime.daemon_control import DaemonControl


class ReasonTests(SynchronousTestCase):
    """One line that says what to do."""

    def test_daemon_is_down(self) -> None:
        """Where nobody listens the node daemon is named, and how to start it."""
        hint = f"start it there with '{DaemonControl.here().command('start', 'ganeti-noded')}'"
        self.assertIn(hint, reason(ConnectionRefusedError(111, "Connection refused")))

    def test_node_is_down(self) -> None:
        """Where not even a machine answers, so is how to have the cluster go on without the node."""
        for error in (getConnectError((errno.EHOSTUNREACH, "No route to host")), TimeoutError()):
            self.assertIn("gnt-node modify --offline=yes", reason(error))

    def test_own_words(self) -> None:
        """What else went wrong is told in its own words, in one line."""
        self.assertEqual(reason(BadAnswer("it does not answer\nas it should")), "it does not answer")
        self.assertEqual(reason(ZeroDivisionError()), "ZeroDivisionError")

    def test_broken_off(self) -> None:
        """A power cut in the midst of a call is told in plain words."""
        for error in (ConnectionLost("cut"), ConnectionDone()):
            self.assertIn("the connection broke off before it answered", reason(error))
