"""The server's edge: what is answered, and what meets silence."""

import gc
import resource
from random import Random

import msgspec
from msgspec.structs import replace
from twisted.internet.testing import FakeDatagramTransport
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.confd.answers import MAX_KEPT, MAX_KEPT_BYTES, Answers, NoAnswers
from ganeti_tx.confd.codec import Key, check_signature, envelope_of
from ganeti_tx.confd.messages import MAX_MESSAGE, MAX_REQUEST, Reply, RequestType, Status
from ganeti_tx.confd.protocol import ConfdProtocol, Present, respond
from ganeti_tx.confd.view import view_of
from ganeti_tx.test.confd.cases import CONFIG, KEY, NOW, RAW_KEY, present, reply_in, request
from ganeti_tx.test.model import samples

CLIENT = ("192.0.2.99", 40000)
MILLION = 1_000_000
MIB = 1024 * 1024


class ServerCase(SynchronousTestCase):
    """A protocol on a transport in memory, at a time that the test sets."""

    def setUp(self) -> None:
        self.time = NOW
        self.present = present()
        self.protocol = ConfdProtocol(self.present, lambda: self.time)
        self.transport = FakeDatagramTransport()
        self.protocol.makeConnection(self.transport)

    def heard(self, datagram: bytes) -> list[Reply]:
        """What a datagram is answered with."""
        self.transport.written.clear()
        self.protocol.datagramReceived(datagram, CLIENT)
        self.assertEqual([address for _, address in self.transport.written], [CLIENT] * len(self.transport.written))
        return [reply_in(written) for written, _ in self.transport.written]

    def assert_silent(self, datagram: bytes) -> None:
        """There is no answer."""
        self.assertEqual(self.heard(datagram), [])


class AnswerTests(ServerCase):
    """What is answered."""

    def test_reply(self) -> None:
        """A reply is signed under the request's own salt, and has the four fields."""
        self.heard(request(5, rsalt="9aa6ce92-8336"))
        envelope = envelope_of(self.transport.written[0][0])
        check_signature(KEY, envelope)
        self.assertEqual(envelope.salt, "9aa6ce92-8336")
        fields = {"answer": ["192.0.2.11", "192.0.2.12"], "protocol": 1, "serial": 7, "status": 0}
        self.assertEqual(msgspec.json.decode(envelope.msg), fields)

    def test_protocol_number(self) -> None:
        """The protocol's number is not looked at."""
        for number in (b"0", b"2", b'"x"', b"null"):
            self.assertEqual(len(self.heard(request(0, protocol=msgspec.Raw(number)))), 1)

    def test_salts(self) -> None:
        """Answers that are kept go out under the salt of each request."""
        for salt in ("a", "b", 'ä\u0000"\\', ""):
            self.heard(request(3, rsalt=salt))
            self.assertEqual(envelope_of(self.transport.written[0][0]).salt, salt)

    def test_largest_request(self) -> None:
        """A salt as long as a request may be comes back, with the largest answer, in a datagram that can be sent."""
        salt = "x" * (MAX_REQUEST - len(request(10, "/cluster/osparams/os/big", rsalt="")))
        for size in range(MAX_MESSAGE - 200, MAX_MESSAGE):
            config = replace(CONFIG, cluster=replace(CONFIG.cluster, osparams={"os": {"big": "y" * size}}))
            datagram = respond(present(config), request(10, "/cluster/osparams/os/big", rsalt=salt), NOW)
            assert datagram is not None
            self.assertLess(len(datagram), 65508)

    def test_too_large(self) -> None:
        """An answer that fits into no datagram is an error that says so."""
        nodes = {f"uuid{number}": replace(samples.NODE, uuid=f"uuid{number}") for number in range(300)}
        config = replace(CONFIG, nodes={**CONFIG.nodes, **nodes})
        reply = reply_in(respond(present(config), request(10, "/nodes"), NOW))
        self.assertEqual((reply.status, reply.serial), (Status.ERROR, 0))
        self.assertRegex(reply.answer, r"^the answer has \d+ bytes, a datagram holds 61440: ask for a part of it$")

    def test_no_configuration(self) -> None:
        """Without a configuration every request there is is told why; what is none still meets silence."""
        self.present.answers = NoAnswers("cannot read it")
        for kind in RequestType:
            self.assertEqual(self.heard(request(kind)), [Reply(status=1, answer="cannot read it", serial=0)])
        self.assert_silent(request(12))


class SilenceTests(ServerCase):
    """What is not answered."""

    def test_unknown_type(self) -> None:
        """A request that there is not."""
        for kind in (-1, 12, 99, 10**3000):
            self.assert_silent(request(kind))

    def test_not_signed(self) -> None:
        """Another key, another fourcc, another salt than what was signed."""
        self.assert_silent(request(0, key=Key(b"other")))
        self.assert_silent(b"plj1" + request(0)[4:])
        self.assert_silent(request(0).replace(f"{int(NOW)}".encode(), f"{int(NOW) + 1}".encode()))

    def test_cut(self) -> None:
        """A datagram that is not whole, or has something behind it."""
        datagram = request(0)
        for length in range(len(datagram)):
            self.assert_silent(datagram[:length])
        self.assert_silent(datagram + b"x")

    def test_reply_as_request(self) -> None:
        """A reply is no request, though a holder of the key has made it."""
        self.heard(request(0, rsalt=f"{int(NOW)}"))
        self.assert_silent(self.transport.written[0][0])

    def test_window(self) -> None:
        """A request is answered from five minutes before its time until five minutes after, and never again."""
        datagram = request(0)
        for difference, answers in (
            (-301, 0),
            (-300, 1),
            (0, 1),
            (300, 1),
            (301, 0),
            (3600, 0),
            (-86400, 0),
            (10**9, 0),
        ):
            self.time = NOW + difference
            self.assertEqual(len(self.heard(datagram)), answers, difference)

    def test_replay(self) -> None:
        """A replayed request in time changes nothing, is answered with the old salt only, and leaves nothing behind."""
        datagram = request(3, rsalt="once")
        first = respond(self.present, datagram, NOW)
        before = len(gc.get_objects())
        for _ in range(10_000):
            self.assertEqual(respond(self.present, datagram, NOW), first)
        self.assertLess(len(gc.get_objects()) - before, 100)

    def test_new_key(self) -> None:
        """From the moment of a new key on the old one opens nothing."""
        self.present.key = Key(b"another")
        self.assert_silent(request(0))
        self.assertIsNotNone(respond(self.present, request(0, key=Key(b"another")), NOW))


class FloodTests(ServerCase):
    """Floods cost no memory, and no word in the log."""

    def flood(self, count: int, seed: int) -> None:
        """Random datagrams: noise, noise behind the fourcc, requests with a few bytes changed, old ones, future ones."""
        random = Random(seed)
        good = request(10, "/cluster/tags")
        old, future = request(0, time=NOW - 301), request(0, time=NOW + 86400)
        receive = self.protocol.datagramReceived
        for number in range(count):
            match number % 8:
                case 0:
                    broken = bytearray(good)
                    broken[random.randrange(len(broken))] = random.randrange(256)
                    data = bytes(broken)
                case 1:
                    data = old if number & 8 else future
                case 2:
                    data = b"plj0" + random.randbytes(random.randrange(100))
                case _:
                    data = random.randbytes(random.randrange(60))
            receive(data, CLIENT)

    def test_million(self) -> None:
        """After a million random datagrams nothing is kept of them, and the next request is answered."""
        self.flood(10_000, 1)
        gc.collect()
        self.transport.written.clear()
        objects, peak = len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.flood(MILLION, 2)
        answered = len(self.transport.written)
        self.assertEqual({reply_in(written).answer[0] for written, _ in self.transport.written[:100]} - {"a/b"}, set())
        self.assertLess(answered, MILLION // 8 // 50, "only a byte changed to itself is answered")
        self.transport.written.clear()
        gc.collect()
        self.assertLess(len(gc.get_objects()) - objects, 1000)
        self.assertLess((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * 1024, 16 * MIB)
        self.assertEqual(len(self.heard(request(0))), 1)

    def test_answers_kept(self) -> None:
        """Whoever has the key and asks ever new things gets answers; few of them are kept."""
        answers = Answers(view_of(CONFIG))
        server = Present(Key(RAW_KEY), answers)
        for number in range(3 * MAX_KEPT):
            self.assertIsNotNone(respond(server, request(10, f"/no/{number}"), NOW))
        self.assertLessEqual(len(answers._kept), MAX_KEPT)
        for number in range(3000):
            pad = " " * (number % 3000)
            self.assertIsNotNone(answers.body(10, f'{pad}""'.encode()))
        self.assertLessEqual(answers._bytes, MAX_KEPT_BYTES)
        self.assertEqual(answers._bytes, sum(size(key, body.msg, body.text) for key, body in answers._kept.items()))


def size(key: tuple[int, bytes], *parts: bytes) -> int:
    """The bytes of a kept answer."""
    return len(key[1]) + sum(len(part) for part in parts)
