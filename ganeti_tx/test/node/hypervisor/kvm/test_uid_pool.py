"""User ids for instances: random, one each, never one that a process has."""

import os
from pathlib import Path
from random import Random

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.process_owners import user_ids_in_use
from ganeti_tx.node.hypervisor.kvm.uid_pool import MAX_UID, MOST_TRIED, UidPool, parse_pool, some_of
from ganeti_tx.runtime.file_lock import hold
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.entropy import SeededEntropy


class UidPoolTests(SynchronousTestCase):
    """A pool of ids on a real file system; the processes are said to have the ids in `running`."""

    def setUp(self) -> None:
        self.paths = Paths(Path(self.mktemp()).absolute())
        self.paths.data_dir.mkdir(parents=True)
        self.running: set[int] = set()
        self.pool = self.a_pool(0)

    def a_pool(self, seed: int) -> UidPool:
        """As a node daemon has it."""
        files = RealFiles(InlineThreads())
        return UidPool(self.paths, files, SeededEntropy(seed), lambda: frozenset(self.running))

    def write_pool(self, text: str) -> None:
        """The cluster's pool."""
        self.paths.ssconf_file("uid_pool").write_text(text)

    def start(self) -> int:
        """Lend an id and start a process that has it."""
        with self.pool.lent() as uid:
            self.running.add(uid)
        return uid

    def lock_files(self) -> set[str]:
        """Which ids have one."""
        return set(os.listdir(self.paths.uid_pool_dir))

    def test_each_once(self) -> None:
        """Ids are lent once each until none is left, also while others are being started; an ended one's is free."""
        self.write_pool("61234-61235")
        with self.pool.lent() as first, self.a_pool(1).lent() as second:
            self.assertEqual({first, second}, {61234, 61235})
            self.assertRaises(HypervisorError, self.start)
            self.running |= {first, second}
        self.assertRaises(HypervisorError, self.start)
        self.assertEqual(self.lock_files(), {"61234", "61235"})
        self.running.remove(61234)
        for _ in range(2):
            self.pool.give_back(61234)
        self.assertEqual(self.lock_files(), {"61235"})
        self.assertEqual(self.start(), 61234)

    def test_process(self) -> None:
        """An id that some process has is not lent, though nobody left a lock file."""
        self.write_pool("61234-61236")
        self.running |= {61234, 61236}
        self.assertEqual(self.start(), 61235)

    def test_stale_file(self) -> None:
        """A lock file that was left behind loses no id; ids without one are tried first."""
        self.write_pool("61230-61239")
        self.paths.uid_pool_dir.mkdir(parents=True)
        for uid in range(61230, 61239):
            (self.paths.uid_pool_dir / str(uid)).touch()
        self.assertEqual(self.start(), 61239)
        self.assertIn(self.start(), range(61230, 61239))

    def test_locked_by_others(self) -> None:
        """Who takes ids by the same locks as we do is respected, and its file is not removed."""
        self.write_pool("61234")
        self.paths.uid_pool_dir.mkdir(parents=True)
        held = hold(self.paths.uid_pool_dir / "61234", 0o600)
        self.assertRaises(HypervisorError, self.start)
        self.pool.give_back(61234)
        self.assertEqual(self.lock_files(), {"61234"})
        held.release()
        self.assertEqual(self.start(), 61234)

    def test_taken_while_locking(self) -> None:
        """A process that got the id between the first look and the lock keeps it."""
        self.write_pool("61234")
        looks = iter([frozenset[int](), frozenset({61234})])
        files = RealFiles(InlineThreads())
        pool = UidPool(self.paths, files, SeededEntropy(), lambda: next(looks))
        self.assertRaises(HypervisorError, pool.lent().__enter__)

    def test_random(self) -> None:
        """Which id it is cannot be foretold."""
        self.write_pool("61000-61999")
        firsts = set()
        for seed in range(8):
            with self.a_pool(seed).lent() as uid:
                firsts.add(uid)
        self.assertGreater(len(firsts), 4)

    def test_failed_start(self) -> None:
        """What fails while it has the id gives it back."""
        self.write_pool("61234")
        with self.assertRaises(ZeroDivisionError), self.pool.lent():
            raise ZeroDivisionError
        self.assertEqual(self.lock_files(), set())
        self.assertEqual(self.start(), 61234)

    def test_no_pool(self) -> None:
        """A cluster without a pool lends nothing, which is told; so does one that has root alone."""
        for text in ("", "0", "0\n4294967295"):
            self.write_pool(text)
            self.assertIn("no pool", str(self.assertRaises(HypervisorError, self.start)))
        self.paths.ssconf_file("uid_pool").unlink()
        self.assertIn("--uid-pool", str(self.assertRaises(HypervisorError, self.start)))

    def test_used_up(self) -> None:
        """When all are in use the error says so, and what to do."""
        self.write_pool("61234-61235")
        self.running |= {61234, 61235}
        self.assertIn("all 2 user ids", str(self.assertRaises(HypervisorError, self.start)))

    def test_ranges(self) -> None:
        """Root is in no pool, nor the number that means "unchanged"; whatever else the cluster takes for a pool is one."""
        for text in ("5-4", "x", "1-", "-1", "4294967296", "1-4294967296"):
            self.assertRaises(HypervisorError, parse_pool, text)
        self.assertEqual(
            parse_pool("0-2,7\n4294967294-4294967295"), [range(1, 3), range(7, 8), range(MAX_UID, MAX_UID + 1)]
        )
        self.assertEqual(sorted(some_of(parse_pool("10-12,0,30"), Random(1))), [10, 11, 12, 30])
        found = some_of(parse_pool("5-6,1000-4294967295"), Random(1))
        self.assertEqual((len(found), len(set(found))), (MOST_TRIED, MOST_TRIED))
        self.assertGreater(max(found), 2**31)
        self.assertLessEqual(max(found), MAX_UID)


class ProcessOwnersTests(SynchronousTestCase):
    """The user ids of the processes of this machine."""

    def test_own(self) -> None:
        """This process's is among them."""
        self.assertIn(os.getuid(), user_ids_in_use())

    def test_every_kind(self) -> None:
        """Each of the four ids of a process counts; what is no process, or has ended, does not, collected or not."""
        proc = Path(self.mktemp())
        for name in ("12", "13", "14", "sys"):
            (proc / name).mkdir(parents=True)
        (proc / "12/status").write_text("Name:\tqemu\nUid:\t1\t2\t3\t4\nGid:\t9\t9\t9\t9\n")
        (proc / "14/status").write_text("Name:\tqemu\nState:\tZ (zombie)\nUid:\t7\t7\t7\t7\n")
        (proc / "sys/status").write_text("Uid:\t8\t8\t8\t8\n")
        self.assertEqual(user_ids_in_use(proc, lambda process: process == 14), frozenset({1, 2, 3, 4}))
