"""Instances that are reserved first and committed later, by command lines."""

from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.each_call import EachCallCase, Operation
from ganeti_tx.test.inprocess.mirrors import mirrored_cluster
from ganeti_tx.test.inprocess.test_rapi import RapiCase

NAME = "web1.example.com"
RESERVE = f"gnt-instance add --forthcoming -t file -s 1G -o noop -n node2 {NAME}"
COMMIT = "gnt-instance add --commit web1"


class ForthcomingTests(EachCallCase):
    """`gnt-instance add --forthcoming` and `--commit`."""

    def assert_reserved(self, cluster: InProcessCluster, where: str) -> None:
        """It is forthcoming, and no node has anything of it."""
        self.assertEqual([each.forthcoming for each in cluster.config.instances.values()], [True], where)
        self.assertEqual([each.forthcoming for each in cluster.config.disks.values()], [True], where)
        self.assertEqual((cluster.disks(), cluster.running()), ({}, {}), where)
        self.assert_nothing_held(cluster)

    def test_whole(self) -> None:
        """It is listed, the cluster finds nothing wrong with it, it becomes real with its uuid, and is removed."""
        said = self.ok(RESERVE)
        self.assertIn("Instance is forthcoming; not creating the actual instance", said)
        self.assert_reserved(self.cluster, said)
        [uuid] = self.cluster.config.instances
        listed = self.ok("gnt-instance list --no-headers -o name,forthcoming,pnode,disk.sizes,status")
        self.assertEqual(listed.split(), [NAME, "Y", "node2.example.com", "1024", "ADMIN_down"])
        self.ok("gnt-instance info web1")
        self.assertNotIn("ERROR", self.ok("gnt-cluster verify"))
        for line in ("startup", "reboot", "shutdown"):
            self.fails(f"gnt-instance {line} web1", "gnt-instance add --commit web1.example.com")
        self.fails(RESERVE, "already in the cluster")
        self.ok(COMMIT)
        self.assertEqual(list(self.cluster.config.instances), [uuid])
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
        self.assertEqual([each.size for each in self.cluster.node(2).files_storage.disks.values()], [1024])
        self.assertNotIn("ERROR", self.ok("gnt-cluster verify"))
        self.fails(COMMIT, "created already")
        self.ok("gnt-instance remove -f web1")
        self.assert_nothing_left(self.cluster)

    def test_room(self) -> None:
        """What is reserved is not there for others, but for the one who commits it."""
        self.cluster.node(2).files_storage.total = 1500
        self.ok(RESERVE)
        other = "gnt-instance add -t file -s 1G -o noop -n node2 web2"
        self.fails(other, "not enough|needed 2048 MiB")
        self.ok(COMMIT)
        self.ok("gnt-instance remove -f web1")
        self.ok(other)

    def test_removed(self) -> None:
        """A reservation is given up without a word to its node."""
        self.ok(RESERVE)
        self.cluster.network.sent.clear()
        self.ok("gnt-instance remove -f web1")
        self.assertEqual([each.call.name for each in self.cluster.network.sent if "blockdev" in each.call.name], [])
        self.assert_nothing_left(self.cluster)

    def test_reserving(self) -> None:
        """Whatever call goes wrong, or is the last one of its job: it is forthcoming, or not there."""
        operation = Operation(RESERVE, done=lambda cluster: bool(cluster.config.instances))
        self.check_troubles(operation)
        self.check_ended(operation, self.kill)

    def test_troubles_of_a_commit(self) -> None:
        """Whatever call goes wrong: all is there in the end, or the reservation."""
        self.check_troubles(Operation(COMMIT, before=(RESERVE,)))

    def test_commit_ended(self) -> None:
        """Killed or canceled at any call: the same."""
        operation = Operation(COMMIT, before=(RESERVE,), done=lambda cluster: bool(cluster.running()))
        self.check_ended(operation, self.kill)
        self.check_ended(operation, self.cancel)

    def check_outcome(self, operation: Operation, success: bool, where: str) -> None:
        """See `EachCallCase`; what was not committed is as it was reserved."""
        if not success and operation.before and not operation.done(self.cluster):
            self.assert_reserved(self.cluster, where)
        super().check_outcome(operation, success, where)


class TemplateTests(EachCallCase):
    """On other templates: what is reserved is what is committed."""

    def check(self, cluster: InProcessCluster, line: str) -> None:
        """Reserve it, commit it without a word more, remove it."""
        self.cluster = cluster
        self.ok(line.replace(" add ", " add --forthcoming "))
        (held,) = cluster.config.disks.values()
        self.assertEqual(
            (held.forthcoming, list(held.secrets), cluster.running()), (True, [""] * len(held.secrets), {})
        )
        self.ok(COMMIT)
        (made,) = cluster.config.disks.values()
        self.assertEqual((made.size, made.dev_type, made.params), (held.size, held.dev_type, held.params))
        self.assertEqual(
            [part.logical_id and part.logical_id[0] for part in made.children],
            [part.logical_id and part.logical_id[0] for part in held.children],
        )
        self.assertEqual(made.nodes, held.nodes)
        self.assertTrue(all(made.secrets))
        self.assert_agreed(cluster, line)
        self.ok("gnt-instance remove -f web1")
        self.assert_nothing_held(cluster)

    def test_mirrored(self) -> None:
        """Both nodes are reserved, and the volumes below the mirror are where it was said."""
        cluster, _ = mirrored_cluster()
        self.addCleanup(cluster.end)
        self.check(cluster, f"gnt-instance add -t drbd -s 1G -o noop -H fake -n node2:node3 {NAME}")

    def test_device(self) -> None:
        """A block device is the instance's from the reservation on."""
        cluster = self.new_cluster()
        cluster.shared.add_device("/dev/disk/by-id/lun0", 2048)
        self.cluster = cluster
        self.ok("gnt-cluster modify --enabled-disk-templates file,blockdev --ipolicy-disk-templates file,blockdev")
        self.check(cluster, f"gnt-instance add -t blockdev --disk 0:adopt=/dev/disk/by-id/lun0 -o noop -n node2 {NAME}")

    def test_external(self) -> None:
        """The provider and what it was told are kept."""
        self.ok("gnt-cluster modify --enabled-disk-templates ext,file --ipolicy-disk-templates ext,file")
        line = f"gnt-instance add -t ext --disk 0:size=1g,provider=shelf,colour=red -o noop -n node2 {NAME}"
        self.check(self.cluster, line)

    def test_shared(self) -> None:
        """Files that all nodes see are on none."""
        self.check(self.cluster, f"gnt-instance add -t sharedfile -s 1g -o noop -n node2 {NAME}")


class RemoteTests(RapiCase):
    """Over the Remote API."""

    def test_reserve_and_commit(self) -> None:
        """Both are parameters of a new instance; what is reserved is shown as such."""
        body = {"__version__": 1, "instance_name": NAME, "mode": "create", "nics": [{}], "disks": []}
        reserved = {"disk_template": "file", "disks": [{"size": 1024}], "os_type": "noop", "pnode": "node2"}
        self.done(
            "POST", "/2/instances", {**body, **reserved, "forthcoming": True, "ip_check": False, "name_check": False}
        )
        self.assertEqual(self.cluster.running(), {})
        self.done("POST", "/2/instances", {**body, "commit": True})
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})

    def test_several(self) -> None:
        """Each instance gets a job of its own; both spellings of names work."""
        more = {
            "mode": "create",
            "disk_template": "diskless",
            "disks": [],
            "nics": [{}],
            "pnode": "node2",
            "os": "noop",
        }
        instances = [
            {"name": f"web{number}.example.com", "ip_check": False, "name_check": False, **more} for number in (1, 2)
        ]
        [result] = self.done("POST", "/2/instances-multi-alloc", {"instances": instances})
        self.assertEqual(result["allocatable"], ["web1.example.com", "web2.example.com"])
        self.assertEqual([taken for taken, _job in result["jobs"]], [True, True])
        self.assertEqual(self.cluster.running(), {"node2.example.com": ["web1.example.com", "web2.example.com"]})
