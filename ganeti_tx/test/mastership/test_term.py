"""Terms: who claims which, and the stamps of one."""

from pathlib import Path

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.mastership.term import MasterTerm, Stamps, claim_term, read_term, write_term
from ganeti_tx.runtime.boot_id import BOOT_ID
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles

NOW = 1000.0


class ClaimTests(SynchronousTestCase):
    """A node that claims a term."""

    def setUp(self) -> None:
        self.files, self.paths = MemoryFiles(), Paths(Path("/node"))
        self.files.mkdir(self.paths.data_dir)
        self.boot("one")

    def boot(self, name: str) -> None:
        """The machine has started anew."""
        if not self.files.exists(BOOT_ID.parent):
            self.files.mkdir(BOOT_ID.parent)
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(BOOT_ID, f"{name}\n".encode())))

    def claim(self, master: str = "node1", cluster: str = "c", at_least: int = 1) -> int:
        """The number that a master gets."""
        claimed = self.successResultOf(
            Deferred.fromCoroutine(claim_term(self.files, self.paths, cluster, master, NOW, at_least))
        )
        self.assertEqual(read_term(self.files, self.paths), claimed)
        self.assertEqual((claimed.master, claimed.cluster, claimed.config), (master, cluster, claimed.number))
        return claimed.number

    def test_same(self) -> None:
        """The daemons of one master on one boot have one term."""
        self.assertEqual([self.claim() for _ in range(3)], [1000, 1000, 1000])

    def test_next(self) -> None:
        """Another master, and another boot of the same, is a new term."""
        self.claim()
        self.assertEqual(self.claim("node2"), 1001)
        self.boot("two")
        self.assertEqual(self.claim("node2"), 1002)

    def test_after_another(self) -> None:
        """A master that has heard of a later term claims one after it."""
        self.claim()
        heard = MasterTerm(cluster="c", master="node2", number=4000)
        self.successResultOf(Deferred.fromCoroutine(write_term(self.files, self.paths, heard)))
        self.assertEqual(self.claim(), 4001)
        self.assertEqual(self.claim(at_least=9000), 9000)

    def test_other_cluster(self) -> None:
        """Terms of another cluster, and what is damaged, do not count."""
        self.claim()
        self.assertEqual(self.claim(cluster="d"), 1000)
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(self.paths.master_term_file, b"{")))
        self.assertIsNone(read_term(self.files, self.paths))
        self.assertEqual(self.claim(), 1000)

    def test_cannot_be_kept(self) -> None:
        """Without a place to keep it there is no term."""
        self.files.fault = lambda operation, path: OSError(28, "No space left on device")
        claiming = Deferred.fromCoroutine(claim_term(self.files, self.paths, "c", "node1", NOW))
        self.assertIn("No space left", str(self.failureResultOf(claiming, ConfigurationError).value))

    def test_stamps(self) -> None:
        """Stamps rise, also when the ticks stand still."""
        ticks = iter([5, 5, 4, 90])
        stamps = Stamps(MasterTerm(cluster="c", master="node1", number=3), lambda: next(ticks))
        made = [stamps.next() for _ in range(4)]
        self.assertEqual([stamp.sequence for stamp in made], [5, 6, 7, 90])
        self.assertEqual({(stamp.cluster, stamp.master, stamp.term) for stamp in made}, {("c", "node1", 3)})

    def test_claimed_again(self) -> None:
        """What another daemon of this master claims holds for all; what another master has claimed does not."""
        first = MasterTerm(cluster="c", master="node1", number=3)
        kept = [first, replace(first, number=9), None, replace(first, master="node2", number=12), first]
        stamps = Stamps(first, lambda: 0, iter(kept).__next__)
        made = [stamps.next() for _ in kept]
        self.assertEqual([(each.master, each.term) for each in made], [("node1", 3)] + [("node1", 9)] * 4)
