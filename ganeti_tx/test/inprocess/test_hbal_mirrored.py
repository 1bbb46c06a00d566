"""Debian's hbal moves instances whose disks are mirrored, and their second copies, in a cluster in this process."""

import re
import tempfile
from pathlib import Path

from ganeti_tx.test.inprocess.luxi_door import LuxiDoor
from ganeti_tx.test.inprocess.mirrored_case import MirroredCase
from ganeti_tx.test.real.placement_programs import why_not

ADD = "gnt-instance add -t drbd -s 1G -o noop -H fake --no-name-check --no-ip-check --ignore-ipolicy -n node1:node2"
#: A line of the plan: the instance, and its two nodes in the end.
PLANNED = re.compile(r"^ +\d+\. (\S+) +\S+ +=> (\S+?):(\S+) ", re.MULTILINE)
NAMES = ("web1", "web2", "web3", "web4")


class BalanceTests(MirroredCase):
    """Four nodes; all instances have their disks on the first two, and some of them run."""

    skip = why_not()
    nodes_count = 4

    def setUp(self) -> None:
        super().setUp()
        for name in NAMES:
            self.ok(f"{ADD} {'--no-start' if name == NAMES[-1] else ''} {name}.example.com")
        directory = tempfile.TemporaryDirectory(prefix="gtx")
        self.addCleanup(directory.cleanup)
        self.door = LuxiDoor(self.cluster, Path(directory.name))

    def hbal(self, *words: str) -> str:
        """What it says when it succeeds."""
        done = self.door.run(["hbal", f"--luxi={self.door.path}", *words])
        self.assertEqual(done.returncode, 0, (done.stdout, done.stderr))
        return done.stdout

    def places(self) -> dict[str, list[str]]:
        """Both nodes and the status of each instance."""
        said = self.ok("gnt-instance list --no-headers -o name,pnode,snodes,status").replace(".example.com", "")
        return {name: rest for name, *rest in map(str.split, said.splitlines())}

    def test_balance(self) -> None:
        """They are where it said, as they were; the nodes have just the volumes of those; then there is nothing to do."""
        before = self.places()
        planned = {name: [*nodes] for name, *nodes in PLANNED.findall(self.hbal("-X"))}
        self.assertGreaterEqual(len(planned), 2)
        expected = {
            name: [*planned.get(name, nodes_and_status[:2]), nodes_and_status[2]]
            for name, nodes_and_status in before.items()
        }
        self.assertEqual(self.places(), expected)
        self.assertEqual({status for *_nodes, status in expected.values()}, {"running", "ADMIN_down"})
        self.assert_agree()
        jobs = self.ok("gnt-job list --no-headers -o status,summary")
        self.assertEqual({line.split()[0] for line in jobs.splitlines()}, {"success"})
        for done in ("INSTANCE_MIGRATE(", "INSTANCE_REPLACE_DISKS("):
            self.assertIn(done, jobs)
        self.assertIn("No solution found", self.hbal())
