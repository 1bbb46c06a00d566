"""gnt-node powercycle on a cluster in this process."""

import errno

from ganeti_tx.node.powercycle import DELAY
from ganeti_tx.test.fakes.files import error
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.test_rapi import RapiCase

SAID = "Reboot scheduled in 5 seconds\n"


class PowercycleTests(ClusterCase):
    """Three machines that can be reset."""

    def boots(self) -> list[int]:
        """How often each was booted, after the time for an answer to arrive."""
        self.cluster.pass_time(DELAY + 1)
        return [self.cluster.node(number).boots for number in (1, 2, 3)]

    def test_reset(self) -> None:
        """The job has its answer before the node is gone; the node comes back."""
        self.assertTrue(self.ok("gnt-node powercycle --yes node2").endswith(SAID))
        self.assertEqual(self.boots(), [1, 2, 1])
        self.ok("gnt-debug delay -n node2 1")

    def test_no_locks(self) -> None:
        """A job that holds the node's lock for long does not keep it from being reset."""
        self.scene().submit("gnt-debug delay --submit -n node3 300")
        self.cluster.pass_time(1)
        self.ok("gnt-node powercycle --yes node3")
        self.assertEqual(self.boots(), [1, 1, 2])
        self.cluster.pass_time(1500)

    def test_offline(self) -> None:
        """What is marked offline can be reset, if its daemon answers."""
        self.ok("gnt-node modify --offline=yes --auto-promote node3")
        self.ok("gnt-node powercycle --yes node3")
        self.assertEqual(self.boots(), [1, 1, 2])
        self.cluster.node(3).stop()
        self.fails("gnt-node powercycle --yes node3", "node3.example.com")

    def test_dead_disk(self) -> None:
        """A node of which no file can be read or written any more does nothing but that (design-2.1)."""
        self.ok("gnt-cluster add-tags seen")
        disk = self.cluster.node(2).disk
        disk.fault = lambda _step, path: error(errno.EIO, path)
        status, out, _err = self.scene().run(["gnt-node", "restricted-command", "-M", "any", "node2"])
        self.assertEqual(status, 1)
        self.assertIn("/var/lib/ganeti/ssconf_master_node: Input/output error", out)
        self.assertTrue(self.ok("gnt-node powercycle --yes node2").endswith(SAID))
        self.cluster.pass_time(DELAY - 1)
        disk.fault = None  # it is to boot
        self.assertEqual(self.boots(), [1, 2, 1])

    def test_refused(self) -> None:
        """Nothing happens to the master by mistake, nor without a yes; a dry run tells what would be done."""
        for line, reason in (
            ("--yes node1", "is the master: all jobs end with it"),
            ("node2", r"Are you sure you want to hard powercycle node node2\?\nNobody can be asked here; --yes"),
            ("--force node2", "Nobody can be asked here"),
            ("--yes nosuch", "'nosuch' not known"),
            ("--yes", "got 0 arguments"),
        ):
            self.fails(f"gnt-node powercycle {line}", reason)
        self.assertIn("1. reset the node", self.ok("gnt-node powercycle --yes --force --dry-run node1"))
        self.assertEqual(self.boots(), [1, 1, 1])


class RemotePowercycleTests(RapiCase):
    """By the Remote API."""

    def test_reset(self) -> None:
        """A node; the master only with force, which is an argument of the address."""
        self.assertEqual(self.done("POST", "/2/nodes/node2.example.com/powercycle"), [SAID.strip()])
        self.assertEqual([self.cluster.node(number).boots for number in (1, 2, 3)], [1, 2, 1])
        job_id = self.send("POST", "/2/nodes/node1.example.com/powercycle?force=0")
        self.cluster.pass_time(30)
        job = self.send("GET", f"/2/jobs/{job_id}")
        self.assertEqual(job["status"], "error")
        self.assertIn("is the master: all jobs end with it", str(job["opresult"]))
