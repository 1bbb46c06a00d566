"""The QMP client against recorded conversations, time-outs, refusals and the end of the connection."""

import errno
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.error import ConnectError, ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import MemoryReactorClock, StringTransport
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.qmp import (
    COMMAND_TIMEOUT,
    CONNECT_TIMEOUT,
    MAX_PENDING,
    QmpClient,
    QmpError,
    QmpLost,
    UnixQmpConnector,
)
from ganeti_tx.node.hypervisor.kvm.qmp_messages import MESSAGE_LIMIT, Event, QmpMalformed
from ganeti_tx.test.node.hypervisor.kvm.captured import CAPTURES, captured

SECRET = "hunter22"


class Transport(StringTransport):
    """Tells its protocol when it is hung up."""

    protocol: QmpClient

    def abortConnection(self) -> None:
        """Hang up at once."""
        if not self.disconnecting:
            self.disconnecting = True
            self.protocol.connectionLost(Failure(ConnectionDone()))


class QmpTestCase(SynchronousTestCase):
    """A client that is connected."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.client = QmpClient(self.clock)
        self.transport = Transport()
        self.transport.protocol = self.client
        self.client.makeConnection(self.transport)

    def sent(self) -> list[dict[str, Any]]:
        """The commands that were sent since the last time."""
        lines = self.transport.value().splitlines()
        self.transport.clear()
        return [msgspec.json.decode(line) for line in lines]

    def say(self, message: object) -> None:
        """Let QEMU say something, byte by byte."""
        for byte in msgspec.json.encode(message) + b"\r\n":
            self.client.dataReceived(bytes([byte]))

    def answer(self, value: object = None) -> None:
        """Answer the only command that was sent."""
        (command,) = self.sent()
        self.say({"return": value if value is not None else {}, "id": command["id"]})


class ConversationTests(QmpTestCase):
    """Recorded conversations again."""

    def test_captured(self) -> None:
        """Each recorded command gets the recorded answer or refusal, whatever events come between."""
        for name in CAPTURES:
            self.setUp()
            self.replay(name)

    def replay(self, name: str) -> None:
        """Send what was sent, say what was said."""
        asked: Deferred[Any] | None = None
        for each in captured(name):
            message = each.message
            if not each.from_qemu:
                asked = self.client.execute(message["execute"], message.get("arguments"))
                (sent,) = self.sent()
                self.assertEqual({key: sent[key] for key in message}, message)
            elif "return" in message or "error" in message:
                assert asked is not None
                self.say({**message, "id": sent["id"]})
                if "return" in message:
                    self.assertEqual(self.successResultOf(asked), message["return"])
                else:
                    failure = self.failureResultOf(asked, QmpError)
                    self.assertEqual(failure.value.error_class, message["error"]["class"])
                    self.assertIn(message["error"]["desc"], str(failure.value))
            else:
                self.say(message)
        self.assertFalse(self.client.is_lost)

    def test_negotiation(self) -> None:
        """Nothing is sent before the greeting; then the negotiation mode is left."""
        ready = Deferred.fromCoroutine(self.client.negotiate())
        self.assertEqual(self.sent(), [])
        self.say(captured("reset")[0].message)
        self.assertEqual(self.client.version, (7, 2, 22))
        self.assertNoResult(ready)
        self.answer()
        self.successResultOf(ready)

    def test_wanted_event(self) -> None:
        """Who waits for the event of one device is not woken by others of that name, nor by a part of the device."""
        gone = self.client.next_event("DEVICE_DELETED", 1.0, lambda data: data.get("device") == "disk1")
        anyone = self.client.next_event("DEVICE_DELETED", 1.0)
        events = [each.message for each in captured("hotplug") if each.message.get("event") == "DEVICE_DELETED"]
        for event in (event for event in events if event["data"].get("device") != "disk1"):
            self.say(event)
            self.assertNoResult(gone)
        self.assertEqual(self.successResultOf(anyone).name, "DEVICE_DELETED")
        for event in events:
            self.say(event)
        self.assertEqual(self.successResultOf(gone).data["device"], "disk1")

    def test_early_greeting(self) -> None:
        """A greeting that came before anybody waited for it counts."""
        self.say(captured("reset")[0].message)
        ready = Deferred.fromCoroutine(self.client.negotiate())
        self.answer()
        self.successResultOf(ready)

    def test_no_greeting(self) -> None:
        """Without a greeting in time the negotiation fails."""
        ready = Deferred.fromCoroutine(self.client.negotiate())
        self.clock.advance(CONNECT_TIMEOUT)
        self.assertIn("greeting", str(self.failureResultOf(ready, HypervisorError).value))

    def test_overlapping(self) -> None:
        """Answers find their commands in any order."""
        first, second = self.client.execute("query-status"), self.client.execute("query-balloon")
        one, two = self.sent()
        self.say({"return": "2", "id": two["id"]})
        self.assertNoResult(first)
        self.say({"return": "1", "id": one["id"]})
        self.assertEqual((self.successResultOf(first), self.successResultOf(second)), ("1", "2"))

    def test_strange_answer(self) -> None:
        """An answer to no command of ours is dropped."""
        asked = self.client.execute("stop")
        self.say({"return": {}, "id": 999})
        self.say({"return": {}})
        self.assertNoResult(asked)
        self.answer()
        self.successResultOf(asked)

    def test_event(self) -> None:
        """All who wait for an event get it, with its data; others wait on."""
        both = [self.client.next_event("SHUTDOWN", 10) for _ in range(2)]
        other = self.client.next_event("RESET", 10)
        self.say({"event": "SHUTDOWN", "data": {"guest": True}})
        for each in both:
            self.assertEqual(self.successResultOf(each), Event("SHUTDOWN", {"guest": True}))
        self.assertNoResult(other)
        other.cancel()
        self.failureResultOf(other, CancelledError)
        self.assertEqual(self.clock.getDelayedCalls(), [])


class LimitTests(QmpTestCase):
    """Time and number."""

    def test_no_answer(self) -> None:
        """A command without an answer in time fails by name; the late answer is dropped and the next one works."""
        asked = self.client.execute("query-status")
        self.clock.advance(COMMAND_TIMEOUT - 0.1)
        self.assertNoResult(asked)
        self.clock.advance(0.1)
        self.assertIn("query-status", str(self.failureResultOf(asked, HypervisorError).value))
        self.answer()
        following = self.client.execute("stop")
        self.answer()
        self.successResultOf(following)

    def test_no_event(self) -> None:
        """An event that does not come in time is an error that names it."""
        waiting = self.client.next_event("SHUTDOWN", 3)
        self.clock.advance(3)
        self.assertIn("SHUTDOWN: nothing came within 3 s", str(self.failureResultOf(waiting, HypervisorError).value))

    def test_cancel(self) -> None:
        """Who gives up gets CancelledError and leaves no timer."""
        asked = self.client.execute("stop")
        asked.cancel()
        self.failureResultOf(asked, CancelledError)
        self.assertEqual(self.clock.getDelayedCalls(), [])
        self.answer()

    def test_too_many(self) -> None:
        """No more than a fixed number of commands are unanswered."""
        asked = [self.client.execute("stop") for _ in range(MAX_PENDING)]
        self.failureResultOf(self.client.execute("stop"), HypervisorError)
        self.client.close()
        for each in asked:
            self.failureResultOf(each, QmpLost)


class ConnectTests(SynchronousTestCase):
    """Connections that cannot be had."""

    def failed(self, error: ConnectError) -> HypervisorError:
        """What the reactor says, as the connector tells it."""
        reactor: Any = MemoryReactorClock()
        connecting = Deferred.fromCoroutine(UnixQmpConnector(reactor, reactor)(Path("/run/web1.qmp")))
        reactor.unixClients[0][1].clientConnectionFailed(None, Failure(error))
        found = self.failureResultOf(connecting, HypervisorError).value
        assert isinstance(found, HypervisorError)
        return found

    def test_nobody_listens(self) -> None:
        """QEMU has ended."""
        found = self.failed(ConnectError(osError=errno.ECONNREFUSED))
        self.assertIsInstance(found, QmpLost)
        self.assertEqual(str(found), "cannot connect to QEMU at /run/web1.qmp: Connection refused")

    def test_hangs(self) -> None:
        """A socket at which as many wait as can is that of a QEMU which is there, and may hang."""
        found = self.failed(ConnectError(string=Failure(ConnectionDone())))
        self.assertNotIsInstance(found, QmpLost)
        self.assertIn("QEMU takes no connection at /run/web1.qmp: it hangs, or", str(found))
        self.assertNotIn("Failure", str(found))


class EndTests(QmpTestCase):
    """How a connection ends."""

    def test_lost(self) -> None:
        """All who wait hear of a lost connection, and so does everyone who comes later."""
        asked, event = self.client.execute("stop"), self.client.next_event("SHUTDOWN", 10)
        greeted, gone = Deferred.fromCoroutine(self.client.negotiate()), self.client.when_lost()
        self.client.connectionLost(Failure(ConnectionDone()))
        for each in (asked, event, greeted, self.client.execute("stop"), self.client.next_event("SHUTDOWN", 1)):
            self.failureResultOf(each, QmpLost)
        self.successResultOf(gone)
        self.successResultOf(self.client.when_lost())
        self.assertTrue(self.client.is_lost)
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_junk(self) -> None:
        """Bytes that are not QMP end the connection, and those who wait get the reason."""
        asked = self.client.execute("stop")
        self.client.dataReceived(b"220 mail.example.com\n")
        self.assertIn("220 mail", str(self.failureResultOf(asked, QmpMalformed).value))
        self.assertTrue(self.transport.disconnecting)

    def test_endless(self) -> None:
        """A message without an end is cut off at the limit."""
        asked = self.client.execute("stop")
        for _ in range(MESSAGE_LIMIT // (1 << 20)):
            self.client.dataReceived(b"x" * (1 << 20))
        self.assertNoResult(asked)
        self.client.dataReceived(b"x")
        self.failureResultOf(asked, QmpMalformed)
        self.assertTrue(self.transport.disconnecting)

    def test_unreadable_command(self) -> None:
        """When QEMU could not read a command, no answer can be told: the connection ends."""
        asked = self.client.execute("stop")
        self.say({"error": {"class": "GenericError", "desc": "JSON parse error"}})
        self.assertIn("JSON parse error", str(self.failureResultOf(asked, QmpMalformed).value))

    def test_secrets(self) -> None:
        """Arguments are in no error: refused, too late, lost or unreadable."""
        arguments = {"protocol": "vnc", "password": SECRET}
        refused = self.client.execute("set_password", arguments)
        (command,) = self.sent()
        self.say({"error": {"class": "GenericError", "desc": "Could not set password"}, "id": command["id"]})
        late = self.client.execute("set_password", arguments)
        self.clock.advance(COMMAND_TIMEOUT)
        lost = self.client.execute("set_password", arguments)
        self.client.close()
        after = self.client.execute("set_password", arguments)
        for each in (refused, late, lost, after):
            failure = self.failureResultOf(each, HypervisorError)
            self.assertNotIn(SECRET, str(failure.value) + repr(failure.value))
