"""Talks with agents that nobody trusts."""

from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.hypervisor.kvm.agent.talk import MAX_LINE, AgentRefusal, AgentSilent, GuestAgents
from ganeti_tx.test.node.hypervisor.kvm.agent.scripted_agent import SILENCE, Says, ScriptedUnix, but, well_behaved

SOCKET = Path("/run/web1.qga")
COMMAND = "guest-network-get-interfaces"


class TalkTests(SynchronousTestCase):
    """One question each."""

    def asked(self, says: Says, at_once: bool = True) -> tuple[ScriptedUnix, Deferred[Any]]:
        """Ask."""
        unix = ScriptedUnix(says, at_once)

        async def ask() -> Any:
            async with GuestAgents(unix, unix).talk(SOCKET) as talk:
                return await talk.ask(COMMAND)

        return unix, Deferred.fromCoroutine(ask())

    def test_answer(self) -> None:
        """It comes at once or byte by byte, behind whatever was left from earlier talks."""
        for at_once in (True, False):
            unix, answer = self.asked(well_behaved, at_once)
            self.assertEqual(self.successResultOf(answer), [])
            self.assertEqual((unix.asked, unix.open), ([["guest-sync-delimited", COMMAND]], 0))

    def test_no_answer(self) -> None:
        """Silence has an end, and so has what never ends; nonsense is no answer."""
        for said in (SILENCE, b"x" * MAX_LINE, b'{"return": ' + b"[" * 100_000, b'{"retu'):
            unix, answer = self.asked(but(guest_network_get_interfaces=said))
            self.assertNoResult(answer)
            unix.advance(3.0)
            self.failureResultOf(answer, AgentSilent)
            self.assertEqual(unix.open, 0)
        deep = b'{"return": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
        for said in (b"x" * (MAX_LINE + 1), b"no json\n", b"\xfe\n", deep, 7, [], {}, {"error": 7}, {"error": {}}):
            unix, answer = self.asked(but(guest_network_get_interfaces=said))
            self.failureResultOf(answer, AgentSilent)
            self.assertEqual(unix.open, 0)

    def test_not_there(self) -> None:
        """Who does not even greet is not asked."""
        for said in (SILENCE, {"return": 1}, {"return": "20151"}, b"\n"):
            unix, answer = self.asked(but(guest_sync_delimited=said))
            unix.advance(3.0)
            self.assertIn("qemu-guest-agent", str(self.failureResultOf(answer, AgentSilent).value))
            self.assertEqual(unix.asked, [["guest-sync-delimited"]])

    def test_refusal(self) -> None:
        """Its reason is told on one line of some length."""
        text = "not\n\x1b[2Jtoday " * 1000
        _, answer = self.asked(but(guest_network_get_interfaces={"error": {"class": "GenericError", "desc": text}}))
        said = str(self.failureResultOf(answer, AgentRefusal).value)
        self.assertTrue(said.startswith(f"its agent refuses {COMMAND}: not [2Jtoday not"), said)
        self.assertTrue(said.isprintable() and len(said) < 300)

    def test_turns(self) -> None:
        """A guest is talked with by one at a time; who waits is not kept by one that is silent for ever."""
        unix = ScriptedUnix(but(guest_network_get_interfaces=SILENCE))
        agents = GuestAgents(unix, unix)

        async def ask(command: str) -> Any:
            async with agents.talk(SOCKET) as talk:
                return await talk.ask(command)

        first = Deferred.fromCoroutine(ask(COMMAND))
        second = Deferred.fromCoroutine(ask("guest-fsfreeze-status"))
        self.assertNoResult(second)
        unix.advance(3.0)
        self.failureResultOf(first, AgentSilent)
        self.assertEqual(self.successResultOf(second), "thawed")
