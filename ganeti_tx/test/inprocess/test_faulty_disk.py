"""The disk that can fail is as good as any while it does not; the replacing of files stands every fault, generated."""

import errno
from itertools import count
from pathlib import Path
from random import Random

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.files_errors import HalfPlaced, NotSynced
from ganeti_tx.test.contracts.files import FilesContract
from ganeti_tx.test.inprocess.faulty_disk import CHANGING, STEPS_OF, FaultPlan, FaultyDisk

TOP = Path("/top")
OLD = {TOP / "one": b"old one", TOP / "two": b"old two"}
NEW = {TOP / "one": b"new one", TOP / "two": b"new two", TOP / "three": b"new three"}


class FaultyDiskTests(FilesContract):
    """The contract."""

    def setUp(self) -> None:
        """An empty directory; writes take few bytes at a time."""
        self.files = FaultyDisk(piece=2)
        self.files.mkdir(TOP)
        self.top = TOP


def disk(plan: FaultPlan | None = None) -> FaultyDisk:
    """One with the old files on its platter, which fails from now on as planned."""
    made = FaultyDisk(piece=5)
    made.mkdir(TOP)
    for path, data in OLD.items():
        Deferred.fromCoroutine(made.write_atomic(path, data))
    made.settle()
    made.fault = plan
    return made


def attempt(made: FaultyDisk, many: bool) -> BaseException | None:
    """Write the new over the old: one file, or three; what came of it."""
    failed: list[BaseException] = []
    one = {TOP / "one": NEW[TOP / "one"]}
    writing = made.write_many(NEW) if many else made.write_atomic(TOP / "one", one[TOP / "one"])
    Deferred.fromCoroutine(writing).addBoth(lambda result: failed.extend([result.value] if result else []))
    return failed[0] if failed else None


def content(made: FaultyDisk) -> dict[Path, bytes]:
    """What programs see."""
    return {path: data for path, (data, _mode) in made.contents().items() if path not in made.leftovers()}


class ReplacementTests(SynchronousTestCase):
    """Each step of a write fails once, and from there on, with each error that a disk has."""

    def each(self, many: bool) -> list[tuple[FaultPlan, FaultyDisk]]:
        """Every plan, until one strikes nothing."""
        made: list[tuple[FaultPlan, FaultyDisk]] = []
        for code in STEPS_OF:
            for lasting in (False, True):
                for first in count(1):
                    probe = FaultPlan(code, first, lasting)
                    attempt(disk(probe), many)
                    if not probe.struck:
                        break
                    plan = FaultPlan(code, first, lasting)
                    made.append((plan, disk(plan)))
        return made

    def test_one_file(self) -> None:
        """A write that failed left the old file; one whose directory could not be synced left the new one and says so."""
        for plan, failing in self.each(many=False):
            failed = attempt(failing, many=False)
            with self.subTest(plan=plan):
                if failed is None:  # it struck where nothing hangs on it
                    self.assertEqual({step for step, _ in plan.struck} - {"unlink"}, set())
                elif isinstance(failed, NotSynced):
                    self.assertEqual(content(failing)[TOP / "one"], b"new one")
                else:
                    self.assertEqual(content(failing), OLD)
                self.assert_mended(plan, failing, many=False)

    def test_many_files(self) -> None:
        """All are new or all are old; if not even that can be had, the error names what is new."""
        for plan, failing in self.each(many=True):
            failed = attempt(failing, many=True)
            with self.subTest(plan=plan):
                if failed is None or isinstance(failed, NotSynced):
                    self.assertEqual(content(failing), NEW)
                elif isinstance(failed, HalfPlaced):
                    self.assertTrue(plan.lasting)
                    changed = {path for path, data in content(failing).items() if OLD.get(path) != data}
                    self.assertEqual(changed, set(failed.placed))
                else:
                    self.assertEqual(content(failing), OLD)
                self.assert_mended(plan, failing, many=True)

    def assert_mended(self, plan: FaultPlan, failing: FaultyDisk, many: bool) -> None:
        """Nothing is left that could be removed, and the next write succeeds."""
        if not plan.lasting or plan.code in (errno.ENOSPC, errno.EDQUOT, errno.EMFILE):
            struck = {step for step, _ in plan.struck}
            self.assertEqual(failing.leftovers() if "unlink" not in struck else [], [])
        plan.lift()
        self.assertIsNone(attempt(failing, many))
        self.assertEqual(content(failing)[TOP / "one"], b"new one")

    def test_error_says_all(self) -> None:
        """The error names the file that was meant, what the system said, and what can be done."""
        for code, said in ((errno.ENOSPC, "No space left on device; free space"), (errno.EROFS, "remount it writable")):
            failing = disk(FaultPlan(code, 1, True))
            failed = attempt(failing, many=False)
            assert isinstance(failed, OSError)
            self.assertEqual((failed.errno, failed.filename), (code, str(TOP / "one")))
            self.assertIn(said, str(failed.strerror))

    def test_power_cut(self) -> None:
        """After a write that was told as done a power cut changes nothing; during it, it is old or new, never torn."""
        for seed in range(50):
            for first in (None, *range(1, 8)):
                losing = disk(FaultPlan(errno.EIO, first, True) if first is not None else None)
                failed = attempt(losing, many=False)
                losing.fault = None
                losing.lose_power(Random(seed))
                allowed = [b"new one"] if failed is None else [b"old one", b"new one"]
                self.assertIn(content(losing)[TOP / "one"], allowed)

    def test_unsynced_write_may_be_torn(self) -> None:
        """The disk is as bad as real ones: what was not synced can be torn after a power cut."""
        seen = set()
        for seed in range(50):
            losing = disk()
            Deferred.fromCoroutine(losing.write_atomic(TOP / "one", b"new one", sync=False))
            losing.lose_power(Random(seed))
            seen.add(content(losing)[TOP / "one"])
        self.assertIn(b"old one", seen)
        self.assertTrue(any(b"new one".startswith(data) and data != b"new one" for data in seen))

    def test_plan(self) -> None:
        """Every step that changes something can be made to fail."""
        steps: set[str] = set()
        for plan, failing in self.each(many=True):
            attempt(failing, many=True)
            steps.update(step for step, _ in plan.struck)
        self.assertEqual(CHANGING - steps, {"mkdir", "rename", "remove", "rmdir"})


del FilesContract  # trial would run it on its own
