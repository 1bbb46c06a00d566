"""Equal questions share an answer, and nobody gets one that is older than his question."""

from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.luxi.async_client import AsyncClient
from ganeti_tx.luxi.transport_errors import ConnectionClosedError, ProtocolError
from ganeti_tx.rapi.asking.luxi_calls import KEPT, MOST_LONG, LuxiCalls
from ganeti_tx.rapi.asking.questions import SharedQuestions, question, result
from ganeti_tx.rapi.http.http_errors import HttpError

A, B, C = b"a\x03", b"b\x03", b"c\x03"


class ClientByHand(AsyncClient):
    """Notes what is sent; the test answers."""

    def __init__(self, sent: list[tuple[bytes, "Deferred[Any]"]]) -> None:
        self._sent = sent
        self.closed = 0

    async def send(self, message: bytes) -> Any:
        """As AsyncClient."""
        waiting: Deferred[Any] = Deferred()
        self._sent.append((message, waiting))
        return await waiting

    def close(self) -> None:
        """As AsyncClient."""
        self.closed += 1


class SharedQuestionTests(SynchronousTestCase):
    """Two connections to the master."""

    def setUp(self) -> None:
        self.sent: list[tuple[bytes, Deferred[Any]]] = []
        self.questions = SharedQuestions(lambda: ClientByHand(self.sent), lanes=2)

    def ask(self, message: bytes) -> "Deferred[bytes]":
        """Somebody asks."""
        return Deferred.fromCoroutine(self.questions.ask(message))

    def messages(self) -> list[bytes]:
        """All that was sent."""
        return [message for message, _ in self.sent]

    def test_shared(self) -> None:
        """Who asks while the same is under way waits for the next answer, all for one."""
        first, second, third = self.ask(A), self.ask(A), self.ask(A)
        self.assertEqual(self.messages(), [A])
        self.sent[0][1].callback(b"1")
        self.assertEqual(self.successResultOf(first), b"1")
        self.assertNoResult(second)
        self.assertEqual(self.messages(), [A, A])
        self.sent[1][1].callback(b"2")
        self.assertEqual([self.successResultOf(each) for each in (second, third)], [b"2", b"2"])

    def test_others(self) -> None:
        """Other questions go over other connections as long as there are some, and then in turn."""
        asked = [self.ask(message) for message in (A, B, C, A)]
        self.assertEqual(self.messages(), [A, B])
        self.sent[1][1].callback(b"b")
        self.assertEqual(self.messages(), [A, B, C])
        self.sent[0][1].callback(b"a")
        self.assertEqual(self.messages(), [A, B, C, A])
        self.assertEqual([self.successResultOf(asked[number]) for number in (0, 1)], [b"a", b"b"])
        self.assertNoResult(asked[3])

    def test_error(self) -> None:
        """An error is everybody's who asked; the connection serves others afterwards."""
        blocked, first, second = self.ask(B), self.ask(A), self.ask(A)
        self.sent[1][1].errback(ProtocolError("what?"))
        self.failureResultOf(first, ProtocolError)
        self.sent[2][1].errback(ProtocolError("what?"))
        self.failureResultOf(second, ProtocolError)
        self.assertNoResult(blocked)
        self.ask(C)
        self.assertEqual(self.messages(), [B, A, A, C])

    def test_leaves(self) -> None:
        """Who leaves is forgotten; a question that nobody asks any more is not sent."""
        first, second = self.ask(A), self.ask(A)
        second.cancel()
        self.failureResultOf(second, CancelledError)
        first.cancel()
        self.failureResultOf(first, CancelledError)
        self.sent[0][1].callback(b"1")
        self.assertEqual(self.messages(), [A])

    def test_closed_meanwhile(self) -> None:
        """A connection that the master had closed is not the asker's trouble; but twice is."""
        asked = self.ask(A)
        self.sent[0][1].errback(ConnectionClosedError("idle"))
        self.assertEqual(self.messages(), [A, A])
        self.sent[1][1].errback(ConnectionClosedError("again"))
        self.failureResultOf(asked, ConnectionClosedError)


class ResultTests(SynchronousTestCase):
    """Answers as they came."""

    def test_success(self) -> None:
        """The result of what succeeded."""
        self.assertEqual(result(b'{"success": true, "result": [1, null], "version": 3}'), [1, None])

    def test_error(self) -> None:
        """The master's error as its class; nonsense as such."""
        self.assertRaises(OpPrereqError, result, b'{"success":false,"result":["OpPrereqError",["no","wrong_input"]]}')
        self.assertRaises(ProtocolError, result, b"nonsense")
        self.assertRaises(ProtocolError, result, b"[" * 100_000)


class CallTests(SynchronousTestCase):
    """What is no question."""

    def setUp(self) -> None:
        self.sent: list[tuple[bytes, Deferred[Any]]] = []
        self.clients: list[ClientByHand] = []
        questions, to_nodes = (SharedQuestions(lambda: ClientByHand(self.sent), lanes=1) for _ in range(2))
        self.luxi = LuxiCalls(self.make_client, questions=questions, to_nodes=to_nodes)

    def make_client(self) -> ClientByHand:
        """One more connection."""
        self.clients.append(ClientByHand(self.sent))
        return self.clients[-1]

    def call(self, method: str, *args: Any) -> "Deferred[Any]":
        """Somebody calls."""
        return Deferred.fromCoroutine(self.luxi.call(method, list(args)))

    def test_question(self) -> None:
        """A question is shared, and read."""
        asked = self.call("QueryClusterInfo")
        self.assertEqual(self.sent[0][0], question("QueryClusterInfo", []))
        self.sent[0][1].callback(b'{"success": true, "result": {}}')
        self.assertEqual((self.successResultOf(asked), self.clients), ({}, []))

    def test_behind_nodes(self) -> None:
        """Behind questions that wait for a node wait only others of that kind."""
        self.call("QueryNodes", ["n1"], ["mfree"])
        self.call("Query", "instance", ["oper_ram"], None)
        self.assertEqual(len(self.sent), 1)
        others: list[tuple[str, list[Any]]] = [
            ("QueryJobs", [None, ["id"]]), ("Query", ["job", ["id"], None]), ("QueryTags", ["node", "n1"]),
        ]  # fmt: skip
        for method, args in others:
            asked = self.call(method, *args)
            self.assertEqual(self.sent[-1][0], question(method, args))
            self.sent[-1][1].callback(b'{"success": true, "result": []}')
            self.successResultOf(asked)

    def test_side_by_side(self) -> None:
        """Calls that change something do not wait for one another; a few connections are kept."""
        calls = [self.call("SubmitJob", []) for _ in range(KEPT + 2)]
        self.assertEqual(len(self.sent), KEPT + 2)
        for _, waiting in self.sent:
            waiting.callback(1)
        self.assertEqual([self.successResultOf(each) for each in calls], [1] * (KEPT + 2))
        self.assertEqual(sum(client.closed for client in self.clients), 2)
        self.call("SubmitJob", [])
        self.assertEqual(len(self.clients), KEPT + 2)

    def test_long(self) -> None:
        """What waits for something to happen has a connection to itself, which is closed when nobody waits any more."""
        waiting = self.call("WaitForJobChange", 1)
        waiting.cancel()
        self.failureResultOf(waiting, CancelledError)
        self.assertEqual([client.closed for client in self.clients], [1])

    def test_too_many_wait(self) -> None:
        """Only so many may wait at a time."""
        waiting = [self.call("WaitForJobChange", 1) for _ in range(MOST_LONG)]
        error = self.failureResultOf(self.call("WaitForJobChange", 1), HttpError).value
        self.assertEqual(error.status, 503)
        self.sent[0][1].callback([])
        self.successResultOf(waiting[0])
        self.assertNoResult(self.call("WaitForJobChange", 1))
