"""Sizes recorded as they are, in a whole cluster."""

from random import Random

from ganeti_tx.rpc.calls.disk import BlockdevStates
from ganeti_tx.test.inprocess.mirrored_case import ADD, MirroredCase
from ganeti_tx.test.inprocess.network import Says

FILE = "gnt-instance add -t file -s 1G -o noop -H fake -n node1 --no-start --no-name-check --no-ip-check db1"
REPAIR = "gnt-cluster repair-disk-sizes"


class RepairTests(MirroredCase):
    """One disk in a file, and one that is mirrored."""

    def setUp(self) -> None:
        super().setUp()
        self.ok(FILE)
        self.ok(f"{ADD} web1")

    def sizes(self) -> dict[str, list[int]]:
        """What is recorded, by instance: the disk and its parts."""
        config = self.cluster.config
        return {
            instance.name: [size for uuid in instance.disks for size in self.tree(uuid)]
            for instance in config.instances.values()
        }

    def tree(self, uuid: str) -> list[int]:
        """A disk, and its parts."""
        disk = self.cluster.config.disks[uuid]
        return [disk.size, *(child.size for child in disk.children)]

    def test_right(self) -> None:
        """Nothing is said and nothing is done."""
        before = self.cluster.config
        self.assertEqual(self.ok(REPAIR), "")
        self.assertEqual(self.cluster.config, before)

    def test_wrong(self) -> None:
        """Every one, or those of the instances that are named."""
        (file,) = self.cluster.node(1).files_storage.disks.values()
        file.size = 1500
        for number in (2, 3):
            for mirror in self.home(number).mirrors.up.values():
                mirror.size = 1100
        self.assertEqual(self.ok(f"{REPAIR} --dry-run").count("record the size of disk/0 of instance"), 2)
        told = self.ok(f"{REPAIR} web1")
        self.assertIn(
            "WARNING: Disk 0 of instance web1 has mismatched size, correcting: recorded 1024, actual 1100", told
        )
        self.assertEqual(self.sizes(), {"db1": [1024], "web1": [1100, 1100, 128]})
        self.assertIn("instance db1 has mismatched size", self.ok(REPAIR))
        self.assertEqual(self.sizes(), {"db1": [1500], "web1": [1100, 1100, 128]})
        self.fails(f"{REPAIR} nosuch", "unknown_entity")

    def test_result(self) -> None:
        """What was wrong is the job's result."""
        (file,) = self.cluster.node(1).files_storage.disks.values()
        file.size = 1500
        job_id = self.luxi().submit_job([{"OP_ID": "OP_CLUSTER_REPAIR_DISK_SIZES", "reason": []}])
        self.cluster.pass_time(30)
        self.assertEqual(self.job(job_id).ops[0].result, [["db1", 0, "size", 1500]])

    def test_unknown(self) -> None:
        """A node that does not tell, or that has lost a disk, is told of; the others are repaired."""
        self.cluster.node(1).files_storage.disks.clear()
        self.assertIn("disk/0 of instance db1 is left as it is recorded: it is not there", self.ok(REPAIR))
        self.cluster.network.fault = lambda node, call: Says("no") if isinstance(call, BlockdevStates) else None
        self.assertIn("the disks of instance web1 are left as they are recorded", self.ok(REPAIR))
        self.cluster.network.fault = None
        self.cluster.lose_power(self.cluster.node(2), Random(1))
        self.assertIn("the disks of instance web1 are left as they are recorded", self.ok(REPAIR))
