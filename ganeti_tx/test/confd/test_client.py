"""The client against peers that are silent, lying, late, stale or of different minds."""

import json
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.confd import questions
from ganeti_tx.confd.answers import NoAnswers
from ganeti_tx.confd.codec import Body, Key, envelope_of, sign
from ganeti_tx.confd.messages import MAX_REQUEST, Reply
from ganeti_tx.confd.poll import COVERAGE, EXPIRY, Answer, Peer, Poll, needed
from ganeti_tx.confd.protocol import Present, respond
from ganeti_tx.confd.questions import Question
from ganeti_tx.errors import ConfdClientError, UdpDataSizeError
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.test.confd.cases import CLUSTER, CONFIG, KEY, NODE2, NOW, present
from ganeti_tx.test.confd.network import Network, Server, honest, silent

FACTS = json.loads(Path(__file__).with_name("facts").joinpath("confd.json").read_text())
PEERS = [Peer(f"192.0.2.{number}", 1814) for number in range(1, 10)]


def with_serial(number: int, master_ip: str) -> Present:
    """A server's state that tells itself from others."""
    return present(replace(CONFIG, cluster=replace(CLUSTER, serial_no=number, master_ip=master_ip)))


def fixed(answer: Any, serial: int = 7, key: Key = KEY, salt: str | None = None) -> Server:
    """A server that answers everything alike."""

    def serve(datagram: bytes) -> list[tuple[bytes, float]]:
        rsalt = json.loads(envelope_of(datagram).msg)["rsalt"]
        reply = Reply(status=0, answer=answer, serial=serial)
        return [(sign(key, Body.of(reply), rsalt if salt is None else salt), 0.0)]

    return serve


class ClientCase(SynchronousTestCase):
    """A client on a network in memory."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.network = Network(self.clock)

    def serve(self, *servers: Server) -> None:
        """The network's servers."""
        self.network.servers = dict(zip(PEERS, servers, strict=False))

    def asking(self, question: Question[Any]) -> "Deferred[Answer[Any]]":
        """The answer to come."""
        return Deferred.fromCoroutine(self.network.client().ask(question))

    def answer(self, question: Question[Any], seconds: float = 0.0) -> Answer[Any]:
        """The answer that has come after so many seconds; nothing is left waiting."""
        asking = self.asking(question)
        self.clock.advance(seconds)
        for _ in range(5):
            self.clock.advance(0)
        answer = self.successResultOf(asking)
        self.assertEqual(self.clock.getDelayedCalls(), [])
        return answer


class QuestionTests(ClientCase):
    """Each of the twelve requests, typed."""

    def test_all(self) -> None:
        """Every question has an answer in its type from our own server."""
        self.serve(honest())
        for question, expected in (
            (questions.ping(), 3000000),
            (questions.node_role("node2"), 1),
            (questions.node_ip_of_instance("198.51.100.2", "br1"), "192.0.2.11"),
            (questions.node_ips_of_instances(["198.51.100.3", "x"]), [(0, "192.0.2.12", 7), (1, 0, 7)]),
            (questions.master_name(), "node1.example.com"),
            (questions.master(), ("node1.example.com", "192.0.2.1", "192.0.2.11")),
            (questions.node_ips(), [f"192.0.2.1{number}" for number in range(1, 6)]),
            (questions.candidate_ips(), ["192.0.2.11", "192.0.2.12"]),
            (questions.instance_ips(), ["198.51.100.1", "198.51.100.3"]),
            (questions.config("/cluster/tags"), ["a/b", "m~n"]),
            (questions.config_serial(), 42),
            (questions.collectors(), {"cpu-avg-load": questions.Collector(active=True, interval=5_000_000)}),
        ):
            self.assertEqual(self.answer(question).value, expected, question)
        (minor,) = self.answer(questions.node_drbd("node1")).value
        self.assertEqual((minor.disk, minor.role, minor.peer), ("disk/0", "primary", "node2.example.com"))
        on_node2 = self.answer(questions.node_instances("node2")).value
        self.assertEqual(
            [each["name"] for each in on_node2.primary + on_node2.secondary], ["web2.example.com", "web1.example.com"]
        )
        self.assertEqual([disk["size"] for disk in self.answer(questions.instance_disks("web1")).value], [1024])

    def test_missing_family(self) -> None:
        """Peers of a family that this machine does not have are as silent ones; with them alone it is told."""
        self.network.servers = {PEERS[0]: honest(), Peer("2001:db8::1", 1814): honest()}
        self.assertEqual(self.answer(questions.ping(), EXPIRY).value, 3000000)
        self.network.servers = {Peer("2001:db8::1", 1814): honest()}
        error = self.failureResultOf(self.asking(questions.ping()), ConfdClientError)
        self.assertIn("no such family", str(error.value))

    def test_errors(self) -> None:
        """An error of the server is one line."""
        self.serve(honest())
        for question, text in (
            (questions.node_role("node9"), "Node 'node9' not known"),
            (questions.node_ip_of_instance("x"), "the cluster knows no such thing"),
            (questions.config("/no"), "the question is wrong"),
        ):
            asking = self.asking(question)
            self.clock.advance(0)
            self.assertIn(text, str(self.failureResultOf(asking, ConfdClientError).value))

    def test_wrong_type(self) -> None:
        """An answer of another type than the question's is an error."""
        self.serve(fixed(["no", "role"]))
        asking = self.asking(questions.node_role("node1"))
        self.clock.advance(0)
        self.assertIn("not an answer to NODE_ROLE", str(self.failureResultOf(asking, ConfdClientError).value))

    def test_too_long(self) -> None:
        """What no server would read whole is not sent."""
        self.serve(honest())
        self.failureResultOf(self.asking(questions.config("/" * MAX_REQUEST)), UdpDataSizeError)
        self.assertEqual(self.network.sent, [])


class WaitingTests(ClientCase):
    """How long it waits, and for how many."""

    def test_needed(self) -> None:
        """All of fewer than three, one less of three or four, more than half of more."""
        self.assertEqual(FACTS["client"]["default_coverage"], COVERAGE)
        self.assertEqual(FACTS["client"]["expire_s"], EXPIRY)
        self.assertEqual([needed(asked) for asked in range(1, 8)], [1, 2, 2, 3, 3, 4, 4])

    def test_coverage(self) -> None:
        """Six are asked, however many there are; four answers are enough."""
        self.serve(*[honest()] * 4, silent, silent, honest())
        self.assertEqual(len(self.answer(questions.ping()).peers), 4)
        self.assertEqual(self.network.sent, PEERS[:6])

    def test_lost(self) -> None:
        """Who is silent is asked again, twice; who has answered is not."""
        self.serve(honest(), silent)
        asking = self.asking(questions.ping())
        self.clock.pump([0.1] * 30)
        self.assertEqual(self.network.sent, [*PEERS[:2], PEERS[1], PEERS[1]])
        self.assertNoResult(asking)
        self.clock.advance(EXPIRY)
        self.assertEqual(self.successResultOf(asking).peers, (PEERS[0],))

    def test_lost_once(self) -> None:
        """A datagram that got lost costs half a second."""
        calls: list[bytes] = []

        def second_time(datagram: bytes) -> list[tuple[bytes, float]]:
            calls.append(datagram)
            return honest()(datagram) if len(calls) > 1 else []

        self.serve(second_time)
        self.assertEqual(self.answer(questions.ping(), 0.5).value, 3000000)

    def test_nobody(self) -> None:
        """When all are silent it gives up after ten seconds and leaves nothing behind."""
        self.serve(silent, silent)
        asking = self.asking(questions.ping())
        self.clock.advance(EXPIRY - 0.1)
        self.assertNoResult(asking)
        self.clock.advance(0.1)
        failure = self.failureResultOf(asking, ConfdClientError)
        self.assertRegex(str(failure.value), "^no answer within 10 s from 192.0.2.1, 192.0.2.2; .*key.*clock")
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_nobody_in_order(self) -> None:
        """Whomever it asks first, silence is told in the same words, so that logs need not repeat it."""
        polls = [Poll(KEY, questions.ping(), "salt", each, EXPIRY) for each in (PEERS, PEERS[::-1])]
        self.assertEqual(len({str(self.assertRaises(ConfdClientError, poll.newest)) for poll in polls}), 1)

    def test_no_peers(self) -> None:
        """Without anybody to ask it says so at once."""
        self.failureResultOf(self.asking(questions.ping()), ConfdClientError)

    def test_late(self) -> None:
        """An answer that comes after the end is dropped; the client goes on."""
        self.serve(honest(delay=EXPIRY + 1))
        client = self.network.client()
        asking = Deferred.fromCoroutine(client.ask(questions.ping()))
        self.clock.pump([1.0] * 15)
        self.failureResultOf(asking, ConfdClientError)
        self.serve(honest())
        again = Deferred.fromCoroutine(client.ask(questions.ping()))
        self.clock.advance(0)
        self.assertEqual(self.successResultOf(again).value, 3000000)

    def test_cancel(self) -> None:
        """Who stops waiting leaves nothing behind."""
        self.serve(silent)
        client = self.network.client()
        asking = Deferred.fromCoroutine(client.ask(questions.ping()))
        asking.cancel()
        self.failureResultOf(asking, CancelledError)
        self.assertEqual((self.clock.getDelayedCalls(), client._open), ([], {}))

    def test_close(self) -> None:
        """Closing fails what is open and closes the sockets; the next question opens one again."""
        self.serve(silent)
        client = self.network.client()
        asking = Deferred.fromCoroutine(client.ask(questions.ping()))
        client.close()
        self.assertIn("closed", str(self.failureResultOf(asking, ConfdClientError).value))
        self.assertEqual((self.network.open, self.clock.getDelayedCalls()), (0, []))
        self.serve(honest())
        again = Deferred.fromCoroutine(client.ask(questions.ping()))
        self.clock.advance(0)
        self.successResultOf(again)
        self.assertEqual(self.network.open, 1)

    def test_overlap(self) -> None:
        """Several questions at once each get their own answer, over one socket."""
        self.serve(honest(delay=0.1))
        client = self.network.client()
        asked = [Deferred.fromCoroutine(client.ask(questions.node_role(f"node{number}"))) for number in range(1, 6)]
        self.clock.advance(0.1)
        self.assertEqual([self.successResultOf(each).value for each in asked], [0, 1, 4, 2, 3])
        self.assertEqual(self.network.open, 1)


class TruthTests(ClientCase):
    """Which answer counts."""

    def test_highest(self) -> None:
        """Of several answers that with the highest serial number counts, in whatever order they come."""
        low, high = with_serial(5, "198.51.100.5"), with_serial(9, "198.51.100.9")
        for first, second in ((low, high), (high, low)):
            for delays in ((0.0, 0.1), (0.1, 0.0)):
                self.serve(honest(first, delays[0]), honest(second, delays[1]))
                found = self.answer(questions.master(), 0.1)
                self.assertEqual((found.value.cluster_ip, found.serial), ("198.51.100.9", 9))
                self.assertEqual((len(found.peers), found.conflicting), (1, ()))

    def test_liars(self) -> None:
        """Neither another key, nor another salt, nor who was not asked, nor noise counts; a true one does."""

        def other_host(datagram: bytes) -> list[tuple[bytes, float]]:
            """Makes a peer that was not asked send what is right in all else."""
            for reply, _ in fixed("9.9.9.9", 999)(datagram):
                self.received(reply, Peer("192.0.2.200", 1814))
                self.received(reply, Peer(PEERS[0].host, 1815))
            return [(b"", 0.0), (b"plj0{}", 0.0), (b"\xff" * 60000, 0.0)]

        self.serve(
            fixed("9.9.9.9", 999, Key(b"other")), fixed("9.9.9.9", 999, salt="another"), other_host, honest(), honest()
        )
        client = self.network.client()
        self.received = client._received
        asking = Deferred.fromCoroutine(client.ask(questions.config("/cluster/master_ip")))
        self.clock.advance(0)
        self.assertNoResult(asking)
        self.clock.advance(EXPIRY)
        found = self.successResultOf(asking)
        self.assertEqual((found.value, found.peers, found.conflicting), ("192.0.2.1", (PEERS[3], PEERS[4]), ()))

    def test_twice(self) -> None:
        """A peer counts once, however often it answers."""
        self.serve(lambda datagram: honest()(datagram) * 5, silent)
        asking = self.asking(questions.ping())
        self.clock.advance(1)
        self.assertNoResult(asking)
        self.clock.advance(EXPIRY)
        self.assertEqual(len(self.successResultOf(asking).peers), 1)

    def test_reply_of_request(self) -> None:
        """A request of ours that is sent back is no answer."""
        self.serve(lambda datagram: [(datagram, 0.0)])
        asking = self.asking(questions.ping())
        self.clock.advance(EXPIRY)
        self.failureResultOf(asking, ConfdClientError)

    def test_errors_count_less(self) -> None:
        """A peer that cannot read its configuration does not outvote one that can."""
        broken = Present(KEY, NoAnswers("cannot read"))
        self.serve(honest(broken), honest())
        self.assertEqual(self.answer(questions.ping()).value, 3000000)
        self.assertEqual(self.answer(questions.master_name()).value, "node1.example.com")


class SettlingTests(ClientCase):
    """Where the serial numbers in the replies leave open what is newest, that of the whole configuration decides."""

    #: A later state of the configuration, in which neither the cluster's nor the node's serial number has changed.
    LATER: ConfigData = replace(CONFIG, serial_no=43, instances={})
    WITHOUT_NODE2: ConfigData = replace(
        LATER, disks={}, nodes={uuid: node for uuid, node in CONFIG.nodes.items() if uuid != NODE2.uuid}
    )

    def test_stale(self) -> None:
        """A stale peer under the same serial number is found out, wherever it stands."""
        for order in ((CONFIG, self.LATER), (self.LATER, CONFIG)):
            self.serve(*[honest(present(config)) for config in order])
            found = self.answer(questions.node_drbd("node1"))
            self.assertEqual((found.value, found.peers), ([], (PEERS[order.index(self.LATER)],)))
            self.assertEqual(found.conflicting, ())

    def test_removed(self) -> None:
        """That a node is gone is believed whose configuration is newer, though its error has no serial number."""
        for order in ((CONFIG, self.WITHOUT_NODE2), (self.WITHOUT_NODE2, CONFIG)):
            self.serve(*[honest(present(config)) for config in order])
            asking = self.asking(questions.node_role("node2.example.com"))
            for _ in range(5):
                self.clock.advance(0)
            self.assertIn("not known", str(self.failureResultOf(asking, ConfdClientError).value))

    def test_refusals(self) -> None:
        """Of several errors that of a peer with a configuration is told, not that of one without."""
        broken = Present(KEY, NoAnswers("cannot read"))
        for order in ((broken, present()), (present(), broken)):
            self.serve(*[honest(each) for each in order])
            asking = self.asking(questions.node_role("node9"))
            self.clock.pump([0.5] * 6)
            self.assertEqual(str(self.failureResultOf(asking, ConfdClientError).value), "Node 'node9' not known")

    def test_same_serial(self) -> None:
        """Two that differ under the same serial number of the whole are both told; one answer is given."""
        other = replace(self.LATER, serial_no=42)
        self.serve(honest(), honest(present(other)))
        found = self.answer(questions.instance_ips())
        self.assertEqual(len(found.peers), 1)
        self.assertEqual({*found.peers, *found.conflicting}, set(PEERS[:2]))

    def test_bounded(self) -> None:
        """Peers that contradict each other and then are silent are waited for seconds, not for ever."""

        def once(master_ip: str) -> Server:
            state = with_serial(7, master_ip)
            left = [1]

            def serve(datagram: bytes) -> list[tuple[bytes, float]]:
                reply = respond(state, datagram, NOW) if left and left.pop() else None
                return [] if reply is None else [(reply, 0.0)]

            return serve

        self.serve(once("198.51.100.1"), once("198.51.100.2"))
        asking = self.asking(questions.master())
        self.clock.pump([0.5] * 9)
        self.assertEqual(len(self.successResultOf(asking).conflicting), 1)
        self.assertEqual(self.clock.getDelayedCalls(), [])
