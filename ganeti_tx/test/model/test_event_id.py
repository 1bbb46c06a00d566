"""Ids of events as texts."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.event_id import MAX_ID, EventId, read_id


class ReadIdTests(SynchronousTestCase):
    """What a client sends back."""

    def test_round_trip(self) -> None:
        """An id is read as it was written."""
        for id in (EventId("6b0187cf.1949463ec38f", 29), EventId("e1", 0)):
            self.assertEqual(read_id(str(id)), id)

    def test_none(self) -> None:
        """What could not have been written by us is none: above all no line end, since the stream repeats the id in a line."""
        wrong = ("", "-", "e1", "e1-", "-1", "e1--1", "e1-x", "e1-\u0661", "e 1-1", "e1-1\n", "e\nevent: gap\n\n-1")
        for text in (*wrong, "e-" + "1" * MAX_ID):
            self.assertIsNone(read_id(text), text)
