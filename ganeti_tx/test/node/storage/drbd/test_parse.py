"""What the programs of DRBD print, read."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.status import LocalDiskStatus
from ganeti_tx.node.storage.drbd.generations import Generations, parse_generations
from ganeti_tx.node.storage.drbd.show import Shown, parse_show
from ganeti_tx.node.storage.drbd.status import MirrorStatus, parse_status
from ganeti_tx.test.node.storage.drbd.captured import captured

DATA, META = "/dev/xenvg/5f0b6c4e.disk0_data", "/dev/xenvg/5f0b6c4e.disk0_meta"
HERE, THERE = ("10.99.0.1", 11000), ("10.99.0.2", 11000)
SECRET = "c2VjcmV0LW9mLXRoZS1sYWI"


class ShowTests(SynchronousTestCase):
    """drbdsetup show."""

    def test_connected(self) -> None:
        """Volumes, ends and secret."""
        self.assertEqual(
            parse_show(captured("wfconnection.show")),
            [Shown("resource0", 0, DATA, META, HERE, THERE, SECRET)],
        )

    def test_two(self) -> None:
        """All devices are told; metadata may be within the data."""
        first, second = parse_show(captured("two-minors.show"))
        self.assertEqual((first.minor, second.minor, second.meta), (0, 1, "internal"))

    def test_alone(self) -> None:
        """One that stands alone has no ends, one without its own part no volumes."""
        (alone,) = parse_show(captured("attached-standalone.show"))
        self.assertEqual((alone.disk, alone.peer, alone.secret), (DATA, None, None))
        (diskless,) = parse_show(captured("diskless-primary.show"))
        self.assertEqual((diskless.disk, diskless.peer), (None, THERE))
        self.assertEqual(parse_show(captured("none.show")), [])

    def test_two_primaries(self) -> None:
        """Whether both sides may be primary."""
        self.assertTrue(parse_show(captured("dual-primary.show"))[0].two_primaries)
        self.assertFalse(parse_show(captured("wfconnection.show"))[0].two_primaries)

    def test_secret_not_shown(self) -> None:
        """What is printed of it for people has no secret."""
        self.assertNotIn(SECRET, repr(parse_show(captured("wfconnection.show"))))

    @given(st.text(alphabet='{};" resourcevlum\n0', max_size=60))
    def test_nonsense(self, text: str) -> None:
        """Anything else is refused with one line, or has nothing in it."""
        try:
            parse_show(text)
        except BlockDeviceError as error:
            self.assertNotIn("\n", str(error))


class StatusTests(SynchronousTestCase):
    """drbdsetup status."""

    def status(self, situation: str) -> MirrorStatus:
        """As it was in one."""
        return parse_status(captured(f"{situation}.status"))

    def test_situations(self) -> None:
        """Whether its own part is good, whether the other side's is, and how far a synchronisation is."""
        found = {
            situation: (status.local, status.has_good_peer, status.percent and int(status.percent))
            for situation in (
                "connected-primary", "syncsource", "paused-sync-target", "invalidated", "diskless-primary", "peer-lost",
                "split-brain", "wfconnection", "diskless-unconfigured", "connected-inconsistent",
            )
            for status in [self.status(situation)]
        }  # fmt: skip
        ok, sync, unknown, faulty = LocalDiskStatus
        self.assertEqual(
            found,
            {
                "connected-primary": (ok, True, None),
                "syncsource": (ok, False, 29),
                "paused-sync-target": (sync, True, 91),
                "invalidated": (sync, True, 35),
                "diskless-primary": (faulty, True, None),
                "peer-lost": (ok, False, None),
                "split-brain": (ok, False, None),
                "wfconnection": (unknown, False, None),
                "diskless-unconfigured": (faulty, False, None),
                "connected-inconsistent": (unknown, False, None),
            },
        )

    def test_settling(self) -> None:
        """A side that looks for the other one may still find it; one that stands alone does not."""
        settling = {
            each: self.status(each).is_settling for each in ("wfconnection", "split-brain", "connected-primary")
        }
        self.assertEqual(settling, {"wfconnection": True, "split-brain": False, "connected-primary": False})

    def test_nonsense(self) -> None:
        """Anything else is refused."""
        self.assertIn("'what'", str(self.assertRaises(BlockDeviceError, parse_status, "what")))


class GenerationsTests(SynchronousTestCase):
    """drbdsetup get-gi."""

    def test_read(self) -> None:
        """The four identifiers."""
        found = parse_generations(captured("connected.get-gi_0"))
        self.assertEqual(found, Generations(0x7DB7F30C46E3DEC5, 0, (0x23FECBC3BF0B0E75, 4)))
        self.assertFalse(found.is_new)

    def test_new(self) -> None:
        """Metadata that were just made have an identifier of their own."""
        self.assertTrue(parse_generations(f"{4:016X}:{0:016X}:{0:016X}:{0:016X}:0:0:0:1:0:1:0").is_new)

    def test_nonsense(self) -> None:
        """Anything else is refused."""
        self.assertRaises(BlockDeviceError, parse_generations, "7DB7")
