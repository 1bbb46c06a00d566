"""A mirror that is made on a node while a job still has to remove an old copy from there."""

from ganeti_tx.test.inprocess.mirrored_case import ADD
from ganeti_tx.test.inprocess.test_replace_disks import ReplaceCase


class MinorTests(ReplaceCase):
    """web1 leaves node3, which takes as long as its disks are copied; web2 comes there meanwhile."""

    def test_new_secondary(self) -> None:
        """The end of the old copy is not that of the new mirror."""
        self.leaves("gnt-instance replace-disks --submit -n node4 web1")

    def test_failover(self) -> None:
        """The same where the whole instance goes."""
        self.leaves("gnt-instance failover --submit -f -n node4 --secondary-node node2 web1")

    def leaves(self, line: str) -> None:
        """Have it leave, and the other one come."""
        (old,) = self.cluster.config.disks.values()
        self.wire.rate = 5.0
        job = self.scene().submit(line)
        self.cluster.pass_time(30)
        self.assertEqual(self.statuses(job), ["running"])
        self.wire.rate = 500.0
        comes = self.scene().submit(
            f"{ADD.replace('add', 'add --submit', 1).replace('node2:node3', 'node1:node3')} web2"
        )
        self.wire.rate = 5.0
        self.cluster.pass_time(2000)
        self.assertEqual(self.statuses(job, comes), ["success", "success"])
        (new,) = [disk for disk in self.cluster.config.disks.values() if disk.uuid != old.uuid]
        self.assertEqual(len(self.home(3).mirrors.up), 1)
        self.assertNotIn(new.minors[1], old.minors)
        self.assertIn("in sync, status ok", self.ok("gnt-instance info web2"))
        self.assert_agree()
