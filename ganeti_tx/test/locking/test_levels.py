"""Names and order of locks."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import LockError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import BGL, LOCKSET, NAL, Level, Lock, Mode

names = st.text(min_size=1, max_size=20).filter(lambda name: name != LOCKSET)
plain = st.builds(
    Lock, st.sampled_from([level for level in Level if level not in (Level.CLUSTER, Level.NODE_ALLOC)]), names
)
groups = st.sampled_from([Lock.all(level) for level in Level if level is not Level.CLUSTER])
locks = st.one_of(plain, groups, st.sampled_from([BGL, NAL]))


class LevelsTests(SynchronousTestCase):
    """The linear order and WConfD's spelling."""

    def test_spelling(self) -> None:
        """Each level has WConfD's word; a whole level is [lockset]."""
        spelled = {
            "cluster/BGL": BGL,
            "instance/web1": Lock(Level.INSTANCE, "web1"),
            "instance/[lockset]": Lock.all(Level.INSTANCE),
            "node-alloc/NAL": NAL,
            "nodegroup/7f0c": Lock(Level.NODEGROUP, "7f0c"),
            "node/11aa": Lock(Level.NODE, "11aa"),
            "node-res/11aa": Lock(Level.NODE_RES, "11aa"),
            "network/9d": Lock(Level.NETWORK, "9d"),
        }
        for text, lock in spelled.items():
            self.assertEqual(Lock.parse(text), lock)
            self.assertEqual(str(lock), text)
        self.assertEqual(
            sorted(spelled.values()), sorted(spelled.values(), key=lambda lock: lock.level * 2 + (not lock.is_set))
        )

    @given(locks)
    def test_parse_reads_what_str_writes(self, lock: Lock) -> None:
        """No lock changes on its way over the wire."""
        self.assertEqual(Lock.parse(str(lock)), lock)

    @given(locks, locks, locks)
    def test_order(self, one: Lock, two: Lock, three: Lock) -> None:
        """The order is linear; a group lock comes before its members, and only members lie between them."""
        self.assertEqual([one < two, one == two, one > two].count(True), 1)
        self.assertTrue(not (one < two < three) or one < three)
        if one.is_set and one < three and one.overlaps(three) and one < two < three:
            self.assertTrue(one.overlaps(two))
        if one.is_set and one.overlaps(two):
            self.assertLessEqual(one, two)

    def test_refused(self) -> None:
        """What names no lock is refused with the offending text and what is allowed."""
        for text, why in {
            "web1": "expected LEVEL/NAME",
            "disk/web1": "'disk/web1'",
            "cluster/other": "only BGL",
            "cluster/[lockset]": "only cluster/BGL",
            "node-alloc/x": "only NAL",
            "node/": "1 to 255",
            "node/" + "n" * 256: "1 to 255",
        }.items():
            self.assertIn(why, str(self.assertRaises(LockError, Lock.parse, text)))

    def test_requests(self) -> None:
        """A request is a lock and one of three words."""
        for word, mode in {"shared": Mode.SHARED, "exclusive": Mode.EXCLUSIVE, "release": None}.items():
            request = LockRequest.parse("node/a", word)
            self.assertEqual(request, LockRequest(Lock(Level.NODE, "a"), mode))
            self.assertEqual(request.to_wire(), ("node/a", word))
        error = self.assertRaises(LockError, LockRequest.parse, "node/a", "mine")
        self.assertEqual(str(error), "cannot set node/a to 'mine'; allowed are release, shared, exclusive")
