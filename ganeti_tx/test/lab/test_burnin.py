"""`burnin` of instances upon mirrors between machines."""

from twisted.trial.unittest import SkipTest

from ganeti_tx.test.lab.case import Chosen, LabCase, the_cluster
from ganeti_tx.test.lab.cluster import OS

THREE = 3
BURNIN = f"burnin -o {OS} -t drbd -H fake --disk-size 32m --disk-growth 16m --mem-size 64m --vcpu-count 1 --no-nics -p"
NAMES = ("burn1.lab.example", "burn2.lab.example")
#: Seconds: everything takes long on these machines.
LIMIT = 3000.0


class BurninTests(Chosen, LabCase):
    """Three machines, for the secondary node goes to a third one."""

    always = frozenset()

    def test_mirrors(self) -> None:
        """All that can be done with mirrors is done, and no volume and no mirror is left."""
        cluster = the_cluster()
        if len(self.machines) < THREE:
            raise SkipTest("needs a third machine: 'bin/lab up --count 3', whose directory GANETI_LAB names")
        ended = cluster.run(
            *BURNIN.split(), "--no-name-check", "--early-release", "--net-timeout=120", *NAMES, limit=LIMIT
        )
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        left_out = [line for line in ended.stdout.splitlines() if "left out" in line]
        self.assertEqual([line.split(":")[0] for line in left_out], ["- Moving", "- Renaming"])
        for machine in self.machines:
            self.assertEqual(machine.run("lvs --noheadings -o lv_name xenvg").split(), [])
            self.assertNotIn(" cs:", machine.run("cat /proc/drbd"))
