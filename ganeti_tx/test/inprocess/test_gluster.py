"""Instances on a volume of Gluster, which all nodes reach, as clients see them."""

import re

from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevCreate
from ganeti_tx.test.inprocess.test_rapi import RapiCase

MOUNT = "/var/run/ganeti/gluster"
ADD = "gnt-instance add -t gluster -o noop -H fake"


class GlusterInstanceTests(RapiCase):
    """A cluster that has the template enabled."""

    def setUp(self) -> None:
        super().setUp()
        words = "gluster,file,sharedfile"
        self.ok(f"gnt-cluster modify --enabled-disk-templates {words} --ipolicy-disk-templates {words}")
        self.ok("gnt-cluster modify -D gluster:host=gluster1,volume=vms")

    def disks(self) -> list[Disk]:
        """Those of the only instance."""
        (instance,) = self.cluster.config.instances.values()
        return [self.cluster.config.disks[uuid] for uuid in instance.disks]

    def test_unasked(self) -> None:
        """A cluster that is made without a word of templates has none of it: somebody has to have servers."""
        self.assertIn("gluster", self.ok("gnt-cluster info"))
        self.ok("gnt-cluster modify --enabled-disk-templates file --ipolicy-disk-templates file")
        self.fails(f"{ADD} -s 1G -n node2 web1", "Disk template 'gluster' is not enabled")

    def test_place(self) -> None:
        """Disks lie in one directory of the volume, and stay there when their instance gets another name or node."""
        self.ok(f"{ADD} --disk 0:size=2G --disk 1:size=1G,access=userspace -n node2 web1")
        places = [list(disk.logical_id or ()) for disk in self.disks()]
        self.assertEqual(places, [["loop", f"{MOUNT}/ganeti/{disk.uuid}.{n}"] for n, disk in enumerate(self.disks())])
        self.assertEqual(
            sorted(self.cluster.node(1).shared.gluster), sorted("/".join(map(str, place)) for place in places)
        )
        self.ok("gnt-instance failover -f -n node1 web1")
        self.ok("gnt-cluster verify")
        self.ok("gnt-instance shutdown web1")
        self.ok("gnt-instance rename --force --no-ip-check --no-name-check web1 web2")
        self.assertEqual([list(disk.logical_id or ()) for disk in self.disks()], places)
        for word in ("file", "gluster"):
            self.ok(f"gnt-instance modify --ignore-ipolicy -t {word} web2")
            self.assertEqual({disk.dev_type for disk in self.disks()}, {DiskTemplate(word)})
        self.ok("gnt-instance remove --force web2")
        self.assert_nothing_left(self.cluster)

    def test_told_to_nodes(self) -> None:
        """A node is told the volume by the parameters of cluster and group, and the access by those of the disk."""
        self.ok("gnt-group modify -D gluster:port=24010 default")
        told: list[DiskSpec] = []

        def hear(_node: str, call: NodeCall[object]) -> None:
            if isinstance(call, BlockdevCreate):
                told.append(call.disk)

        self.cluster.network.fault = hear
        self.ok(f"{ADD} --disk 0:size=2G,access=userspace -n node2 web1")
        self.cluster.network.fault = None
        self.assertEqual(
            {tuple(sorted(disk.params.items())) for disk in told},
            {(("access", "userspace"), ("host", "gluster1"), ("port", 24010), ("volume", "vms"))},
        )

    def test_remote_api(self) -> None:
        """The same by the Remote API, as of any template."""
        body = {
            "__version__": 1, "mode": "create", "name": "web1.example.com", "disk_template": "gluster", "pnode": "node2",
            "disks": [{"size": 1024, "access": "userspace"}], "nics": [{}], "os_type": "noop", "hypervisor": "fake",
        }  # fmt: skip
        self.done("POST", "/2/instances", body)
        self.done("POST", "/2/instances/web1/disk/0/grow", {"amount": 512})
        self.done("PUT", "/2/instances/web1/migrate", {"target_node": "node3"})
        ((row, *_),) = self.done("GET", "/2/nodes/node3/storage?storage_type=gluster&output_fields=name,free")
        self.assertEqual(row, [MOUNT, (1 << 20) - 1536])
        self.assertEqual([(disk.size, disk.params) for disk in self.disks()], [(1536, {"access": "userspace"})])

    def test_detached(self) -> None:
        """A disk that leaves an instance keeps its place, and is the same in another one."""
        self.ok(f"{ADD} --disk 0:size=2G --disk 1:size=1G,name=data --no-start -n node2 web1")
        place = self.disks()[1].logical_id
        self.ok("gnt-instance modify --disk data:detach web1")
        self.ok("gnt-instance modify --disk attach:name=data web1")
        self.assertEqual(self.disks()[1].logical_id, place)

    def test_units(self) -> None:
        """The directory is a storage unit of each node; nothing can be changed of it, or mended."""
        out = self.ok("gnt-node list-storage -t gluster --no-headers -o name,size,free")
        self.assertEqual([line.split() for line in out.splitlines()], [[MOUNT, "1.0T", "1.0T"]] * 3)
        self.fails(f"gnt-node repair-storage node2 gluster {MOUNT}", "gluster")
        self.fails(f"gnt-node modify-storage --allocatable=no node2 gluster {MOUNT}", "gluster")

    def test_parameters(self) -> None:
        """They are shown and checked as those of any template."""
        self.assertRegex(self.ok("gnt-cluster info"), r"(?s)gluster:.*host: gluster1.*port: 24007.*volume: vms")
        self.fails("gnt-cluster modify -D gluster:access=yes", "allowed are kernelspace, userspace")
        self.fails("gnt-cluster modify -D gluster:port=x", "port")
        self.fails(f"{ADD} --disk 0:size=2G,volume=x -n node2 web1", "volume is not known for template gluster")
        self.assertTrue(re.search("No entries|^$", self.ok("gnt-instance list --no-headers")))
