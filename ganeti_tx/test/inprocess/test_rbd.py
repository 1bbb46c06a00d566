"""Instances on images of Ceph, in a cluster in which all nodes reach it."""

from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.test_rapi import RapiCase

ENABLE = "gnt-cluster modify --enabled-disk-templates rbd,file --ipolicy-disk-templates rbd,file"
ADD = "gnt-instance add -t rbd -s 1g -o noop -n node2 web1"


class LifeTests(ClusterCase):
    """From creation to removal."""

    def devices(self, number: int) -> list[str]:
        """The images that have one on a node."""
        return list(self.cluster.node(number).ceph_node.mapped.values())

    def test_life(self) -> None:
        """Its image is made, has a device where it runs, grows, moves, is exported, and is removed with it."""
        self.fails(ADD, "not enabled")
        self.ok(ENABLE)
        self.ok(ADD)
        (disk,) = self.cluster.config.disks.values()
        image = f"rbd/{disk.uuid}.rbd.disk0"
        self.assertEqual((disk.logical_id, disk.nodes), (("rbd", f"{disk.uuid}.rbd.disk0"), ()))
        found = self.cluster.shared.ceph.images()[image]
        self.assertEqual((found.size, found.owner), (1024, "originstname+web1.example.com"))
        self.assertEqual(self.devices(2), [image])
        self.ok("gnt-instance grow-disk --ignore-ipolicy web1 0 1g")
        self.assertEqual(found.size, 2048)
        self.ok("gnt-instance migrate -f -n node3 web1")
        self.assertEqual((self.devices(2), self.devices(3)), ([], [image]))
        self.ok("gnt-instance failover -f -n node1 web1")
        self.assertEqual((self.devices(3), self.devices(1)), ([], [image]))
        self.ok("gnt-cluster verify")
        self.ok("gnt-cluster verify-disks")
        self.ok("gnt-backup export -n node3 web1")
        self.assertEqual(list(self.cluster.shared.ceph.images()), [image])
        self.assertIn("rbd", self.ok("gnt-instance info web1"))
        self.ok("gnt-instance remove --force web1")
        self.ok("gnt-backup remove web1")
        self.assert_nothing_left(self.cluster)

    def test_access(self) -> None:
        """Pool and access are the cluster's, a group's, or access a disk's."""
        self.ok(ENABLE)
        self.fails("gnt-cluster modify -D rbd:access=sideways", "allowed are kernelspace, userspace")
        self.cluster.shared.ceph.pools["fast"] = {}
        self.ok("gnt-group modify -D rbd:pool=fast,access=userspace default")
        self.ok("gnt-instance add -t rbd --disk 0:size=1g,access=kernelspace -o noop -n node2 web1")
        self.assertTrue(all(name.startswith("fast/") for name in self.cluster.shared.ceph.images()))
        (disk,) = self.cluster.config.disks.values()
        self.assertEqual(disk.params, {"access": "kernelspace"})

    def test_power_lost(self) -> None:
        """What had a device before a node was started anew gets one again."""
        self.ok(ENABLE)
        self.ok(ADD)
        self.cluster.node(2).ceph_node.mapped.clear()
        self.ok("gnt-cluster verify-disks")
        self.ok("gnt-instance activate-disks web1")
        self.assertEqual(len(self.devices(2)), 1)

    def test_refused(self) -> None:
        """A pool that is not there is told, as verification tells it of each node, and nothing is left."""
        self.ok(ENABLE)
        self.ok("gnt-cluster modify -D rbd:pool=slow")
        _, said, complaint = self.scene().run(["gnt-cluster", "verify", "--error-codes"])
        for number in (1, 2, 3):
            self.assertIn(f"ENODESETUP:node:node{number}.example.com:rbd pool 'slow' cannot be used", said + complaint)
        self.fails(ADD, "error opening pool 'slow'")
        self.assert_nothing_left(self.cluster)


class RemoteTests(RapiCase):
    """By the Remote API."""

    def test_made(self) -> None:
        """An instance of it is made, and shown with its template."""
        self.ok(ENABLE)
        body = {
            "__version__": 1, "mode": "create", "name": "web1.example.com", "os": "noop", "disk_template": "rbd", "nics": [{}],
            "disks": [{"size": 1024}], "pnode": "node2.example.com",
        }  # fmt: skip
        self.done("POST", "/2/instances", body)
        shown = self.ok("gnt-instance list --no-headers -o disk_template,disk.sizes web1")
        self.assertEqual(shown.split(), ["rbd", "1024"])
