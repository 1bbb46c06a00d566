"""A guest that stands still goes on, whatever happens."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.agent.freezing import ATTEMPTS, FREEZE_LIMIT, NO_AGENT, PAUSE, Freezing
from ganeti_tx.node.hypervisor.kvm.agent.talk import GuestAgents
from ganeti_tx.node.hypervisor.kvm.layout import instance_layout
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.node.hypervisor.kvm.agent.scripted_agent import SILENCE, Says, ScriptedUnix, but, well_behaved
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, PATHS

LAYOUT = instance_layout(PATHS, NAME)
LIMIT = 60.0
REFUSED = {"error": {"class": "GenericError", "desc": "no"}}


class FreezingTests(SynchronousTestCase):
    """One guest, whose agent says what it wants."""

    def setUp(self) -> None:
        self.files = MemoryFiles()
        self.says: Says = well_behaved
        self.unix = ScriptedUnix(lambda command: self.says(command))
        self.freezing = self.daemon()
        self.files.mkdir(LAYOUT.guest_agent.parent)
        self.put_socket()

    def daemon(self) -> Freezing:
        """As one that is started now."""
        return Freezing(self.files, self.unix, GuestAgents(self.unix, self.unix))

    def put_socket(self) -> None:
        """QEMU was started with one."""
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(LAYOUT.guest_agent, b"")))

    def freeze(self, limit: float = LIMIT) -> Deferred[str]:
        """Let it stand still."""
        return Deferred.fromCoroutine(self.freezing.freeze(LAYOUT, limit))

    def thaw(self) -> Deferred[bool]:
        """Let it go on."""
        return Deferred.fromCoroutine(self.freezing.thaw(LAYOUT))

    @property
    def noted(self) -> bool:
        """Whether a daemon that starts now would let it go."""
        return self.files.exists(LAYOUT.frozen)

    @property
    def last_asked(self) -> list[str]:
        """In the last talk, behind the greeting."""
        return self.unix.asked[-1][1:]

    def test_whole(self) -> None:
        """It stands still until it is let go; nothing waits any more then."""
        self.assertEqual(self.successResultOf(self.freeze()), "")
        self.assertTrue(self.noted)
        self.assertTrue(self.successResultOf(self.thaw()))
        self.assertEqual(self.last_asked, ["guest-fsfreeze-thaw", "guest-fsfreeze-status"])
        self.assertEqual((self.noted, self.unix.getDelayedCalls()), (False, []))
        self.assertFalse(self.successResultOf(self.thaw()))

    def test_no_agent(self) -> None:
        """Without one nothing stands still, and it is told why; nobody need let it go."""
        self.says = but(guest_sync_delimited=SILENCE)
        freezing = self.freeze()
        self.unix.advance(3.0)
        self.assertIn("no agent in it answers", self.successResultOf(freezing))
        self.files.remove(LAYOUT.guest_agent)
        self.assertEqual(self.successResultOf(self.freeze()), NO_AGENT)
        self.assertEqual((self.noted, self.unix.getDelayedCalls()), (False, []))

    def test_time_is_over(self) -> None:
        """Who froze it and never comes back does not matter; it is told that it did not stand still all the time."""
        self.successResultOf(self.freeze())
        self.unix.advance(LIMIT)
        self.assertEqual(self.last_asked, ["guest-fsfreeze-thaw", "guest-fsfreeze-status"])
        self.assertFalse(self.noted)
        self.assertFalse(self.successResultOf(self.thaw()))

    def test_another_daemon(self) -> None:
        """One that was started meanwhile lets it go, once."""
        self.successResultOf(self.freeze())
        self.unix.getDelayedCalls()[0].cancel()
        after = self.daemon()
        after.thaw_all([LAYOUT])
        self.unix.advance(0.0)
        self.assertFalse(self.noted)
        talks = len(self.unix.asked)
        self.daemon().thaw_all([LAYOUT])
        self.unix.advance(0.0)
        self.assertEqual(len(self.unix.asked), talks)

    def test_refused(self) -> None:
        """An agent that fails, or has frozen nothing, is told to let all go, for it may have frozen some."""
        for said in (REFUSED, {"return": 0}, {"return": "2"}, {"return": True}, {"return": -1}, {}, b"nonsense\n"):
            self.says = but(guest_fsfreeze_freeze=said)
            self.assertIn("its agent", self.successResultOf(self.freeze()))
            self.assertEqual(self.last_asked, ["guest-fsfreeze-thaw", "guest-fsfreeze-status"])
            self.assertEqual((self.noted, self.unix.getDelayedCalls()), (False, []))

    def test_hangs_while_freezing(self) -> None:
        """Who does not answer in time may freeze all the same, later: it is asked until it says that all goes on."""
        silent = False

        def says(command: str) -> Any:
            nonlocal silent
            silent = silent or command == "guest-fsfreeze-freeze"
            return SILENCE if silent else well_behaved(command)

        self.says = says
        freezing = self.freeze()
        self.unix.advance(FREEZE_LIMIT)
        self.unix.advance(3.0)
        self.assertIn("does not answer guest-fsfreeze-freeze", self.successResultOf(freezing))
        self.assertTrue(self.noted)
        self.unix.advance(PAUSE)
        self.unix.advance(3.0)
        self.assertTrue(self.noted)
        self.says = well_behaved
        self.unix.advance(PAUSE)
        self.assertFalse(self.noted)

    def test_thaw_fails(self) -> None:
        """It is asked again, though not for ever; an answer does not count against the guest's own state."""
        for said in ({"guest_fsfreeze_thaw": REFUSED}, {"guest_fsfreeze_status": {"return": "frozen"}}):
            self.says = well_behaved
            self.successResultOf(self.freeze())
            self.says = but(**said)
            error = self.failureResultOf(self.thaw(), HypervisorError).value
            self.assertIn(f"instance {NAME}: its file systems may still be frozen: its agent", str(error))
            for _ in range(ATTEMPTS + 3):
                self.unix.advance(PAUSE)
            self.assertEqual(self.unix.getDelayedCalls(), [])
            self.assertTrue(self.noted)
            self.says = well_behaved
            self.assertTrue(self.successResultOf(self.thaw()))
        self.flushLoggedErrors()

    def test_some_only(self) -> None:
        """A guest that lets fewer go than stood still was not whole."""
        self.successResultOf(self.freeze())
        self.says = but(guest_fsfreeze_thaw={"return": 1})
        self.assertFalse(self.successResultOf(self.thaw()))
        self.assertFalse(self.noted)

    def test_ended(self) -> None:
        """Of a guest that has ended meanwhile nothing is asked."""
        self.successResultOf(self.freeze())
        self.files.remove(LAYOUT.frozen)
        talks = len(self.unix.asked)
        self.unix.advance(LIMIT)
        self.assertEqual(len(self.unix.asked), talks)
