"""Connections that are kept, on a clock."""

from typing import Any, cast

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rpc.http.connection import NodeConnection
from ganeti_tx.rpc.http.kept import KEPT_CONNECTIONS, KEPT_SECONDS, KeptConnections

HERE, THERE = ("192.0.2.1", 1811), ("192.0.2.2", 1811)


class Noted:
    """Notes that it was closed."""

    def __init__(self) -> None:
        self.closed = False

    def abort(self) -> None:
        """As NodeConnection says."""
        self.closed = True


class KeptTests(SynchronousTestCase):
    """Which stay, and which are taken."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.kept = KeptConnections(self.clock)

    def keep(self, place: Any = HERE) -> Noted:
        """A new one that is not used."""
        made = Noted()
        self.kept.keep(place, cast(NodeConnection, made))
        return made

    def test_taken_once(self) -> None:
        """Each is one caller's, the one that was used last first; others' places have their own."""
        first, second, other = self.keep(), self.keep(), self.keep(THERE)
        self.assertEqual([self.kept.take(HERE) for _ in range(3)], [second, first, None])
        self.assertIs(self.kept.take(THERE), other)
        self.assertIsNone(self.kept.take(("192.0.2.3", 1811)))

    def test_enough(self) -> None:
        """There are not more of them to one place than so many."""
        made = [self.keep() for _ in range(KEPT_CONNECTIONS + 2)]
        self.assertEqual([each.closed for each in made], [False] * KEPT_CONNECTIONS + [True] * 2)
        self.assertFalse(self.keep(THERE).closed)

    def test_not_for_ever(self) -> None:
        """Each is closed when it has not been used for some time, and then nothing is left to wait for."""
        first = self.keep()
        self.clock.advance(KEPT_SECONDS / 2)
        second = self.keep(THERE)
        self.clock.advance(KEPT_SECONDS / 2)
        self.assertEqual((first.closed, second.closed), (True, False))
        self.assertIsNone(self.kept.take(HERE))
        self.clock.advance(KEPT_SECONDS / 2)
        self.assertTrue(second.closed)
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_used_meanwhile(self) -> None:
        """The time counts from its last use, and one that is in use is not closed."""
        connection = self.keep()
        self.clock.advance(KEPT_SECONDS - 1)
        self.assertIs(self.kept.take(HERE), connection)
        self.clock.advance(KEPT_SECONDS)
        self.kept.keep(HERE, cast(NodeConnection, connection))
        self.clock.advance(KEPT_SECONDS - 1)
        self.assertFalse(connection.closed)
        self.clock.advance(1)
        self.assertTrue(connection.closed)

    def test_forgotten(self) -> None:
        """One that the node has closed is not taken."""
        connection = self.keep()
        self.kept.forget(HERE, cast(NodeConnection, connection))
        self.kept.forget(THERE, cast(NodeConnection, connection))
        self.assertIsNone(self.kept.take(HERE))

    def test_closed(self) -> None:
        """Afterwards none is there, and those that were in use are closed when they are not any more."""
        unused, used = self.keep(), self.keep()
        self.kept.take(HERE)
        self.kept.close()
        self.assertEqual((unused.closed, used.closed), (True, False))
        self.kept.keep(HERE, cast(NodeConnection, used))
        self.assertTrue(used.closed)
        self.assertIsNone(self.kept.take(HERE))
        self.assertEqual(self.clock.getDelayedCalls(), [])
