"""An instance on mirrors between machines that goes to a third one, and whether its data are there."""

from twisted.trial.unittest import SkipTest

from ganeti_tx.test.lab import guest
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.test_mirrors import INSTANCE, READ, MirroredCase

THREE = 3


class AnyNodeTests(MirroredCase):
    """Failed over and migrated to a machine without a copy (design-2.0, Failover to any node)."""

    def setUp(self) -> None:
        """@raise SkipTest: the lab has two machines only."""
        super().setUp()
        if len(self.machines) < THREE:
            raise SkipTest("needs a third machine: 'bin/lab up --count 3', whose directory GANETI_LAB names")
        self.third = self.machines[2]

    def go(self, verb: str, target: Machine, kept: Machine, options: str = "") -> str:
        """To a third machine; what was told."""
        nodes = f"-n {self.cluster.node_name(target)} --secondary-node {self.cluster.node_name(kept)}"
        return self.do(f"{verb} -f {nodes} {options}")

    def assert_nothing(self, machine: Machine) -> None:
        """No volume and no mirror is there."""
        self.assertEqual(machine.run("lvs --noheadings -o lv_name xenvg").split(), [])
        self.assertNotIn(" cs:", machine.run("cat /proc/drbd"))

    def test_walk(self) -> None:
        """What was written last is read wherever it goes, in each of the ways, and nothing is left where it went from."""
        first, second, third, cluster = self.first, self.second, self.third, self.cluster
        self.add()
        written, last = self.write(first, 1), self.counted(first)[-1]

        told = self.go("failover", third, second)
        self.assertLess(told.index("* starting the instance"), told.index(f"Waiting for instance {INSTANCE} to sync"))
        self.assert_place(third, second)
        self.assert_nothing(first)
        self.assertEqual(third.run(READ), written)
        self.assertGreater(self.counted(third)[0], last)

        written = self.write(third, 2)
        told = self.go("failover", first, third, "--wait-for-sync")
        self.assertGreater(
            told.index("* starting the instance"), told.index(f"Waiting for instance {INSTANCE} to sync")
        )
        self.assert_place(first, third)
        self.assert_nothing(second)
        self.assertEqual(first.run(READ), written)

        written = self.write(first, 3)
        self.counted(first)
        self.go("migrate", second, first)
        self.assert_place(second, first)
        self.assert_nothing(third)
        self.assertEqual(second.run(READ), written)
        said = guest.ticks(first, INSTANCE) + self.counted(second)
        self.assertEqual(said, list(range(said[0], said[0] + len(said))))

        written = self.write(second, 4)
        self.addCleanup(lambda: None if second.is_on else cluster.power_up(second))
        second.cut()
        told = self.go("failover", third, first, "--ignore-consistency")
        self.assertIn("Can't remove the old copy of disk/0", told)
        self.assert_place(third, first)
        self.assertEqual(third.run(READ), written)
        self.counted(third)
        cluster.power_up(second)
        self.assertEqual(len(second.run("lvs --noheadings -o lv_name xenvg").split()), 2)
        self.do(f"replace-disks -n {cluster.node_name(second)}")
        self.assert_place(third, second)
        self.assertEqual(third.run(READ), written)

        self.do("remove -f")
        for machine in (first, second, third):
            self.assert_nothing(machine)
