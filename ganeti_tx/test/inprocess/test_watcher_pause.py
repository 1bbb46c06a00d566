"""The watcher's pause on a whole cluster."""

from ganeti_tx.rpc.calls.watcher import GetWatcherPause
from ganeti_tx.rpc.wire import decode_answer, encode_call
from ganeti_tx.test.inprocess.failover_case import FailoverCase
from ganeti_tx.test.inprocess.network import perform


class WatcherPauseTests(FailoverCase):
    """Every node knows it."""

    def pauses(self) -> list[float | None]:
        """What each node's daemon answers."""
        return [self.pause(number) for number in (1, 2, 3)]

    def pause(self, number: int) -> float | None:
        """What one does."""
        node = self.cluster.node(number)
        dispatch = self.cluster.network.daemons[node.address].dispatch
        answer = perform(dispatch, GetWatcherPause.name, encode_call(GetWatcherPause()), self.cluster.node(1).name)
        return decode_answer(node.name, GetWatcherPause(), self.cluster.run(answer))

    def test_everywhere(self) -> None:
        """A pause is every node's, until its end is said; also another master knows it."""
        self.assertEqual(self.pauses(), [None] * 3)
        self.assertEqual(self.ok("gnt-cluster watcher info"), "The watcher is not paused.\n")
        said = self.ok("gnt-cluster watcher pause 4h")
        first = self.pause(1)
        self.assertIsNotNone(first)
        self.assertEqual(self.pauses(), [first] * 3)
        self.fail_over(2)
        self.assertEqual(self.ok("gnt-cluster watcher info"), said)
        self.ok("gnt-cluster watcher continue")
        self.assertEqual(self.pauses(), [None] * 3)

    def test_silent_node(self) -> None:
        """One that does not answer keeps nobody waiting for long, and nobody from pausing the others."""
        self.cluster.node(3).stop()
        self.assertIn("paused until", self.ok("gnt-cluster watcher pause 30m"))
        self.assertIsNotNone(self.pause(2))
