"""The server protocol on a transport in memory and a clock that is turned by hand."""

from ganeti_tx.luxi.method_table import Method, MethodTable, Param
from ganeti_tx.luxi.server import LuxiFactory
from ganeti_tx.luxi.shapes import INT
from ganeti_tx.test.luxi.server_case import TAGS, WAIT, Connection, ServerTestCase, request


class AnswerTests(ServerTestCase):
    """What is answered, and in which order."""

    def test_byte_by_byte(self) -> None:
        """A request is answered with its last byte."""
        for byte in TAGS[:-1]:
            self.client.send(bytes([byte]))
        self.assertEqual(self.client.answers(), [])
        self.client.send(TAGS[-1:])
        self.assertEqual(self.client.answers(), [(True, ["cluster", ""])])

    def test_order(self) -> None:
        """Requests are carried out one after the other, and answered in their order."""
        self.client.send(WAIT + TAGS + WAIT)
        self.assertEqual(len(self.dispatch.calls), 1)
        self.dispatch.waiting[0].callback("first")
        self.assertEqual(self.client.answers(), [(True, "first"), (True, ["cluster", ""])])
        self.dispatch.waiting[1].callback("third")
        self.assertEqual(self.client.answers(), [(True, "third")])

    def test_arguments_are_checked(self) -> None:
        """Dispatch sees only arguments of the right shape, job ids as ints."""
        self.client.send(request("QueryJobs", ["7"], []) + request("QueryJobs", "7", []) + request("Nonsense"))
        self.assertEqual(self.dispatch.calls, [("QueryJobs", [[7], []])])
        good, wrong, unknown = self.client.answers()
        self.assertEqual(good, (True, [[7], []]))
        self.assertEqual((wrong[0], wrong[1][0], wrong[1][1][1]), (False, "OpPrereqError", "wrong_input"))
        self.assertIn("Unknown method 'Nonsense'", unknown[1][1][0])
        self.assertFalse(self.client.transport.disconnecting)

    def test_errors(self) -> None:
        """An error of Ganeti's is the answer, and the connection goes on."""
        self.client.send(request("ArchiveJob", 9) + TAGS)
        self.assertEqual(self.client.answers(), [(False, ["JobLost", ["Job 9 lost"]]), (True, ["cluster", ""])])

    def test_unexpected_errors(self) -> None:
        """Any other error is logged; the client learns only that there was one."""
        self.client.send(request("CancelJob", 9) + request("PickupJob", 9) + TAGS)
        internal = (False, ["GenericError", ["internal error"]])
        self.assertEqual(self.client.answers(), [internal, internal, (True, ["cluster", ""])])
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)
        self.assertEqual(len(self.flushLoggedErrors(TypeError)), 1)

    def test_junk(self) -> None:
        """What is no request is refused with a plain string; what follows is not looked at, and the server hangs up."""
        self.client.send(TAGS + b"GET / HTTP/1.0\x03" + TAGS)
        self.client.send(TAGS)
        good, refusal = self.client.answers()
        self.assertEqual((good[0], refusal[0]), (True, False))
        self.assertIn("Cannot parse request", refusal[1])
        self.assertTrue(self.client.transport.disconnecting)
        self.assertEqual(len(self.dispatch.calls), 1)
        self.client.lose()
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_too_long(self) -> None:
        """A request over the limit is refused before its end has come, after the answers to those before it."""
        self.client.send(WAIT + b" " * 1001)
        self.assertEqual(self.client.transport.producerState, "paused")
        self.client.send(b" " * 1001)
        self.assertEqual(self.client.answers(), [])
        self.dispatch.waiting[0].callback(1)
        good, refusal = self.client.answers()
        self.assertEqual(good, (True, 1))
        self.assertIn("longer than the limit of 1000 bytes", refusal[1])
        self.assertTrue(self.client.transport.disconnecting)

    def test_another_table(self) -> None:
        """The same protocol serves another table of methods."""
        table = MethodTable([Method("Add", (Param("a", INT), Param("b", INT)))])
        client = Connection(LuxiFactory(self.dispatch, self.clock, methods=table))
        client.send(request("Add", 1, 2) + TAGS)
        good, unknown = client.answers()
        self.assertEqual(good, (True, [1, 2]))
        self.assertIn("known are Add", unknown[1][1][0])


class LossTests(ServerTestCase):
    """Connections that end."""

    def test_call_is_cancelled(self) -> None:
        """What is done for a client that has gone is cancelled, and what it queued is not begun."""
        self.client.send(WAIT + TAGS)
        self.client.lose()
        self.assertEqual(self.dispatch.cancelled, 1)
        self.assertEqual(len(self.dispatch.calls), 1)
        self.assertEqual(self.client.answers(), [])
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_cancelled_for_another_reason(self) -> None:
        """A call that somebody else cancels has no answer: the connection is dropped, not left hanging."""
        self.client.send(WAIT)
        self.dispatch.waiting[0].cancel()
        self.assertTrue(self.client.transport.disconnected)
        self.flushLoggedErrors()

    def test_half_a_request(self) -> None:
        """A connection that ends within a request leaves nothing behind."""
        self.client.send(TAGS[:-1])
        self.client.lose()
        self.assertEqual(self.dispatch.calls, [])
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_end_of_daemon(self) -> None:
        """When the daemon ends every connection is dropped."""
        second = Connection(self.factory)
        self.factory.stopFactory()
        self.assertTrue(self.client.transport.disconnected)
        self.assertTrue(second.transport.disconnected)
