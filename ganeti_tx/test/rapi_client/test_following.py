"""Following events over connections that come and go."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.events import GapEvent
from ganeti_tx.rapi_client.backoff import LONGEST_PAUSE, MAX_FAILURES
from ganeti_tx.rapi_client.errors import AnswerError, NoAnswerError, RapiError
from ganeti_tx.rapi_client.following import Following
from ganeti_tx.sse import event_bytes, id_bytes, retry_bytes

GAP = b'{"kind": "gap", "time": 1.0, "reason": "restart", "resync": ["job"]}'


class FollowingTests(SynchronousTestCase):
    """Where somebody stands in the stream."""

    def setUp(self) -> None:
        self.following = Following(None, ["job", "gap"], ["web1", "a&b"])

    def test_request(self) -> None:
        """Kinds and objects are asked for; without a place it begins now."""
        message = self.following.message
        self.assertEqual(message.target, "/2/events?kind=job%2Cgap&object=web1%2Ca%26b")
        self.assertNotIn("Last-Event-ID", dict(message.headers))
        self.assertEqual(dict(Following("e-7", [], []).message.headers)["Last-Event-ID"], "e-7")

    def test_events(self) -> None:
        """Events come typed, with the id from which it goes on after a lost connection."""
        data = retry_bytes(2500) + id_bytes("e-1") + event_bytes("e-2", "gap", GAP) + b"id: e-3\ndata: {"
        happened = [each for byte in data for each in self.following.received(bytes([byte]))]
        self.assertEqual([(each.id, type(each.event)) for each in happened], [("e-2", GapEvent)])
        self.following.lost()
        self.assertEqual(dict(self.following.message.headers)["Last-Event-ID"], "e-2")
        self.assertEqual(self.following.pause, 2.5)

    def test_unknown_kind(self) -> None:
        """Events of a kind that only newer servers have are passed over, and others go on."""
        data = event_bytes("e-1", "disk", b'{"kind": "disk"}') + event_bytes("e-2", "gap", GAP)
        self.assertEqual([each.id for each in self.following.received(data)], ["e-2"])

    def test_backoff(self) -> None:
        """Once it has begun, it goes on after failures that pass, with longer and longer pauses, but not for ever."""
        self.following.received(id_bytes("e-1"))
        pauses = []
        for failure in [NoAnswerError("x"), RapiError(502, "x")] * (MAX_FAILURES // 2):
            self.following.lost(failure)
            pauses.append(self.following.pause)
        self.assertEqual(pauses, sorted(pauses))
        self.assertEqual((pauses[:3], pauses[-1]), ([1, 2, 4], LONGEST_PAUSE))
        self.assertRaises(NoAnswerError, self.following.lost, NoAnswerError("x"))

    def test_no_haste(self) -> None:
        """A server that wants to be asked again at once is left some time all the same while it fails."""
        self.following.received(retry_bytes(0))
        self.following.lost()
        self.assertEqual(self.following.pause, 0)
        self.following.lost(NoAnswerError("x"))
        self.assertEqual(self.following.pause, 1)

    def test_patience_begins_anew(self) -> None:
        """Whatever comes shows that the server is there."""
        for _ in range(3 * MAX_FAILURES):
            self.following.received(id_bytes("e-1"))
            self.following.lost(NoAnswerError("x"))

    def test_refused(self) -> None:
        """What does not pass is told at once, as is everything before the first answer."""
        self.assertRaises(NoAnswerError, self.following.lost, NoAnswerError("x"))
        self.following.received(id_bytes("e-1"))
        self.assertRaises(RapiError, self.following.lost, RapiError(403, "x"))

    def test_headers_alone(self) -> None:
        """Headers without anything after them are no beginning."""
        self.assertEqual(self.following.received(b""), [])
        self.assertRaises(RapiError, self.following.lost, RapiError(503, "x"))

    def test_nonsense(self) -> None:
        """What is no stream of events is refused."""
        for data in (b"\xff\n", b"data: {}\n\n", b"data: " + b"x" * 2_000_000, event_bytes("e-1", "gap", b"[" * 90000)):
            self.assertRaises(AnswerError, Following(None, [], []).received, data)
