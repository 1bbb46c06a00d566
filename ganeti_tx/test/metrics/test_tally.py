"""Counts in one process, and their way into another."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.metrics.metric import Counter, Gauge, Histogram, by_name
from ganeti_tx.metrics.readings import Readings, Spread, Value
from ganeti_tx.metrics.tally import Tally

CALLS = Counter("ganeti_calls_total", "Calls.", ("node", "call"))
LENGTH = Gauge("ganeti_length", "Length.")
WAIT = Histogram("ganeti_wait_seconds", "Wait.", ("node",), bounds=(0.1, 1.0, 10.0))
KNOWN = by_name([CALLS, LENGTH, WAIT])


def travelled(readings: Readings) -> Readings:
    """As they arrive on the other side of a wire."""
    return msgspec.json.decode(msgspec.json.encode(readings), type=Readings)


class RecordingTests(SynchronousTestCase):
    """What is counted is there."""

    def test_counter(self) -> None:
        """Each series of a counter grows by itself."""
        tally = Tally()
        tally.count(CALLS, "node1", "version")
        tally.count(CALLS, "node1", "version", by=2)
        tally.count(CALLS, "node2", "version")
        self.assertEqual(
            tally.readings().values,
            {"ganeti_calls_total": [Value(("node1", "version"), 3.0), Value(("node2", "version"), 1.0)]},
        )

    def test_gauge(self) -> None:
        """A gauge is what was set last."""
        tally = Tally()
        tally.set(LENGTH, 3)
        tally.set(LENGTH, 2)
        self.assertEqual(tally.readings().values, {"ganeti_length": [Value((), 2)]})

    def test_histogram(self) -> None:
        """An observation falls below the first bound that it does not exceed; what exceeds all is above the last."""
        tally = Tally()
        for seconds in (0.1, 0.11, 10.0, 11.0):
            tally.observe(WAIT, seconds, "node1")
        (spread,) = tally.readings().spreads["ganeti_wait_seconds"]
        self.assertEqual(spread.counts, (1, 1, 1, 1))
        self.assertAlmostEqual(spread.sum, 21.21)

    def test_time_going_back(self) -> None:
        """A negative time counts as none: a sum that sinks would read as a restart."""
        tally = Tally()
        tally.observe(WAIT, -3.0, "node1")
        self.assertEqual(tally.readings().spreads["ganeti_wait_seconds"], [Spread(("node1",), (1,), 0.0)])

    def test_series_are_bounded(self) -> None:
        """However many label values come, memory does not grow for ever; known series go on."""
        tally = Tally(most_series=2)
        for name in ("a", "b", "c", "a"):
            tally.count(CALLS, name, "version")
            tally.observe(WAIT, 1.0, name)
        readings = tally.readings()
        self.assertEqual([each.labels[0] for each in readings.values["ganeti_calls_total"]], ["a", "b"])
        self.assertEqual(readings.values["ganeti_calls_total"][0].value, 2.0)
        self.assertEqual([each.labels for each in readings.spreads["ganeti_wait_seconds"]], [("a",), ("b",)])

    def test_nodes_that_are_gone(self) -> None:
        """Series of what no longer exists can be dropped by a label."""
        tally = Tally()
        tally.count(CALLS, "node1", "version")
        tally.count(CALLS, "node2", "version")
        tally.observe(WAIT, 1.0, "node2")
        tally.set(LENGTH, 1)
        tally.keep("node", lambda name: name == "node1")
        self.assertEqual(
            tally.readings().values,
            {"ganeti_calls_total": [Value(("node1", "version"), 1.0)], "ganeti_length": [Value((), 1)]},
        )
        self.assertEqual(tally.readings().spreads, {})


class TravelTests(SynchronousTestCase):
    """Counts of several processes add up."""

    def test_take_begins_anew(self) -> None:
        """What was handed over is not handed over again."""
        tally = Tally()
        tally.count(CALLS, "node1", "version")
        self.assertTrue(tally.take())
        self.assertFalse(tally.take())

    @given(st.lists(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 100)), max_size=20), max_size=5))
    def test_parts_add_up(self, parts: list[list[tuple[str, float]]]) -> None:
        """Deltas handed over piece by piece give what one tally that saw everything would have."""
        whole, sums, part = Tally(), Tally(), Tally()
        for events in parts:
            for node, seconds in events:
                for tally in (whole, part):
                    tally.count(CALLS, node, "version")
                    tally.observe(WAIT, seconds, node)
            for piece in part.take().pieces(1):
                sums.add(travelled(piece), KNOWN)
        self.assertEqual(sums.readings().values, whole.readings().values)
        for ours, theirs in zip(
            sums.readings().spreads.get("ganeti_wait_seconds", []),
            whole.readings().spreads.get("ganeti_wait_seconds", []),
            strict=True,
        ):
            self.assertEqual((ours.labels, ours.counts), (theirs.labels, theirs.counts))
            self.assertAlmostEqual(ours.sum, theirs.sum)

    def test_what_is_not_known(self) -> None:
        """Unknown metrics, and series of another shape, are left out: the sender may be of another version."""
        tally = Tally()
        tally.add(
            Readings(
                values={
                    "ganeti_other_total": [Value((), 1.0)],
                    "ganeti_calls_total": [Value(("node1",), 1.0)],
                    "ganeti_wait_seconds": [Value(("node1",), 1.0)],
                },
                spreads={
                    "ganeti_wait_seconds": [Spread(("node1",), (1,) * 5, 1.0), Spread((), (1,), 1.0)],
                    "ganeti_length": [Spread((), (1,), 1.0)],
                },
            ),
            KNOWN,
        )
        self.assertFalse(tally.readings())

    def test_pieces(self) -> None:
        """No piece has more series than asked for, and none is lost."""
        tally = Tally()
        for number in range(7):
            tally.count(CALLS, f"node{number}", "version")
            tally.observe(WAIT, 1.0, f"node{number}")
        pieces = list(tally.readings().pieces(3))
        self.assertEqual([len(piece) for piece in pieces], [3, 3, 1, 3, 3, 1])
