"""The master's disk fails at each of its steps, once or until it is mended; what is promised is so all the same.

The steps of one walk (disk_scenario.py) are counted, and for each step and each error there is a walk. As that takes
minutes, each run of the tests makes some of them; with GANETI_TX_DISK_FAULTS=all, or =EIO and so on, it makes all.
"""

import errno
import os
from collections.abc import Iterator
from random import Random

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.inprocess.disk_scenario import DiskScenario
from ganeti_tx.test.inprocess.faulty_disk import STEPS_OF, FaultPlan

WANTED = os.environ.get("GANETI_TX_DISK_FAULTS", "")
#: Of so many plans one is tried in a short run.
ONE_OF = 211
#: What the system says, of which each refusal must have some.
SAID = {code: os.strerror(code) for code in STEPS_OF}
#: Or this, when a queue could not be undrained.
DRAINED = "Queue drained"


def what(plan: FaultPlan) -> str:
    """A plan in short."""
    kind = "lasting" if plan.lasting else "single"
    return f"{kind} {errno.errorcode[plan.code]} at step {plan.first}: {plan.struck[:3]}"


class DiskFaultTests(SynchronousTestCase):
    """Many walks through one cluster, which is never restarted."""

    def setUp(self) -> None:
        self.scenario = DiskScenario()
        self.addCleanup(self.scenario.cluster.end)

    def steps(self, code: int) -> int:
        """How many steps of a walk can fail so."""
        counting = FaultPlan(code, 1 << 30, False)
        self.scenario.disk.fault = counting
        self.scenario.walk()
        self.scenario.disk.fault = None
        self.assertEqual(self.scenario.refusals, [])
        self.assertEqual([each for each in self.scenario.results if "error" in each], [])
        self.assert_well(counting)
        return counting.seen

    def plans(self) -> Iterator[FaultPlan]:
        """Every plan, or some."""
        number = 0
        for code in STEPS_OF:
            if WANTED not in ("", "all", errno.errorcode[code]):
                continue
            steps = self.steps(code)
            self.assertGreater(steps, 100)
            for first in range(1, steps + 1):
                for lasting in (False, True):
                    number += 1
                    if WANTED or number % ONE_OF == 0:
                        yield FaultPlan(code, first, lasting)

    def assert_well(self, plan: FaultPlan) -> None:
        """All invariants hold."""
        self.assertEqual(self.scenario.faults(), [], what(plan))
        if "unlink" not in {step for step, _ in plan.struck}:
            self.assertEqual(self.scenario.disk.leftovers(), [])
        for left in self.scenario.disk.leftovers():
            self.scenario.disk.unlink(left)  # the next start would
        self.assertEqual([str(failure.value) for failure in self.flushLoggedErrors()], [], what(plan))

    def test_every_step(self) -> None:
        """Whatever step fails: refusals say why, memory and disk agree, and everything goes on when the disk is well."""
        for plan in self.plans():
            self.scenario.disk.fault = plan
            self.scenario.walk()
            plan.lift()
            self.assertTrue(plan.struck, what(plan))
            for refusal in self.scenario.refusals:
                said = any(text in refusal for text in (SAID[plan.code], DRAINED))
                self.assertTrue(said and "internal error" not in refusal, f"{refusal!r} by {what(plan)}")
            for result in self.scenario.results:
                self.assertNotIn("internal error", result, what(plan))
            self.assert_well(plan)
            self.scenario.disk.fault = None
            self.scenario.clean()
            self.assertEqual(dict(self.scenario.cluster.config.instances), {}, what(plan))
            self.assert_well(plan)


class PowerCutTests(SynchronousTestCase):
    """The master's disk takes nothing any more from some step on, and then its power is cut."""

    def test_power_cut(self) -> None:
        """What was told as done is so, what is there is whole, and everything goes on.

        A write whose directory could not be synced counts although a power cut may undo it (NotSynced). Where that was
        among the steps that failed, what followed from the change may be there without it: copies that are ahead, a disk.
        """
        for seed in range(200 if WANTED else 8):
            chance = Random(seed)
            scenario = DiskScenario()
            self.addCleanup(scenario.cluster.end)
            scenario.walk()
            scenario.disk.settle()
            scenario.disk.fault = plan = FaultPlan(errno.EIO, chance.randrange(1, 570), True)
            scenario.walk()
            plan.lift()
            scenario.lose_power(chance)
            unsure = any(step == "sync_directory" for step, _ in plan.struck)
            found = [fault for fault in scenario.faults() if not (unsure and ("old on" in fault or "disks" in fault))]
            self.assertEqual(found, [], (seed, what(plan)))
            if not unsure:
                self.assertEqual(scenario.forgotten(), [], (seed, what(plan)))
            scenario.clean()
            scenario.walk()
            self.assertEqual(scenario.refusals, [], (seed, what(plan)))
            if not unsure:
                self.assertEqual(scenario.faults(), [], (seed, what(plan)))
            self.flushLoggedErrors()


class ErrnoTests(SynchronousTestCase):
    """The table of steps."""

    def test_errors(self) -> None:
        """The errors of full, read-only and broken disks and of too many open files are all there."""
        self.assertEqual(set(STEPS_OF), {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE})
