"""Instances get other names."""

from pathlib import Path

from ganeti_tx.rpc.calls.instance import InstanceRunRename
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.network import Says
from ganeti_tx.test.inprocess.test_undo import fail_kind

ADD = "gnt-instance add -t file --disk 0:size=1G --disk 1:size=2G -o noop -n node2 --no-start web1"
OLD, NEW = "web1.example.com", "web2.example.com"
RENAME = "gnt-instance rename web1 web2"


def places(cluster: InProcessCluster) -> set[str]:
    """The directories in which disks are configured."""
    return {Path(str((disk.logical_id or ())[1])).parent.name for disk in cluster.config.disks.values()}


class RenameTests(ClusterCase):
    """By commands and by the Remote API, on an instance with two disks."""

    def setUp(self) -> None:
        super().setUp()
        self.ok(ADD)

    def names(self) -> list[str]:
        """Those of all instances."""
        return sorted(each.name for each in self.cluster.config.instances.values())

    def test_all_that_is_named_after_it(self) -> None:
        """Disks are where the new name says, the OS script was told, the instance starts."""
        before = self.cluster.disks()
        said = self.ok(RENAME).splitlines()
        self.assertEqual(said[-1], f"Instance 'web1' renamed to '{NEW}'")
        self.assertIn("- INFO: Resolved given name 'web2' to 'web2.example.com'", said[0])
        self.assertEqual((self.names(), places(self.cluster)), ([NEW], {NEW}))
        self.assertEqual(
            {node: sorted(path.replace(OLD, NEW) for path in paths) for node, paths in before.items()},
            {node: sorted(paths) for node, paths in self.cluster.disks().items()},
        )
        (call,) = [call for call in self.cluster.node(2).scripts.calls if call.argv[0].endswith("/rename")]
        self.assertEqual((call.env["INSTANCE_NAME"], call.env["OLD_INSTANCE_NAME"]), (NEW, OLD))
        self.ok("gnt-instance startup web2")
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NEW]})
        self.fails("gnt-instance info web1", "not known")
        self.ok("gnt-instance remove -f web2")
        self.assert_nothing_left(self.cluster)

    def test_and_back(self) -> None:
        """The old name is free afterwards, also as a lock."""
        self.ok(RENAME)
        self.ok("gnt-instance rename web2 web1")
        self.ok(RENAME)
        self.ok(ADD)
        self.assertEqual(self.names(), [OLD, NEW])

    def test_own_name(self) -> None:
        """The name that it has changes nothing but the guest's own idea."""
        self.assertEqual(self.ok(f"gnt-instance rename web1 {OLD}"), f"Instance 'web1' renamed to '{OLD}'\n")
        self.assertEqual((self.names(), places(self.cluster)), ([OLD], {OLD}))

    def test_refused(self) -> None:
        """What cannot be is refused before anything is done."""
        self.ok(ADD.replace("web1", "web3"))
        serial = self.cluster.config.serial_no
        self.fails("gnt-instance rename web1 web3", "'web3.example.com' is already in the cluster")
        self.fails("gnt-instance rename web1 nosuch.example.com", "does not resolve")
        self.fails("gnt-instance rename web9 web2", "not known")
        self.fails("gnt-instance rename --no-name-check web1 web2", "--force answers beforehand")
        self.fails("gnt-instance rename --no-name-check --force web1 web2", "requires a name check")
        self.fails("gnt-instance rename --no-ip-check --no-name-check -f web1 we_b!", "not a host name")
        self.fails("gnt-instance rename web1 node3.example.com", "in use by node node3.example.com")
        self.assertEqual(self.cluster.config.serial_no, serial)

    def test_running(self) -> None:
        """An instance that is to be up, or that runs all the same, keeps its name."""
        self.ok("gnt-instance startup web1")
        self.fails(RENAME, "'web1.example.com' is marked to be up, cannot rename")
        self.ok("gnt-instance shutdown web1")
        self.ok("gnt-instance startup --no-remember web1")
        self.fails(RENAME, "'web1.example.com' is running on node node2.example.com, cannot rename")
        self.assertEqual(self.names(), [OLD])

    def test_no_name_check(self) -> None:
        """A name that no resolver knows can be had."""
        self.ok("gnt-instance rename --no-name-check --no-ip-check --force web1 plainname")
        self.assertEqual((self.names(), places(self.cluster)), (["plainname"], {"plainname"}))

    def test_node_offline(self) -> None:
        """Its node has to be there."""
        self.cluster.node(2).stop()
        self.ok("gnt-node modify -f -O yes node2")
        self.fails(RENAME, "Instance primary node offline, cannot rename: node2.example.com")

    def test_no_script(self) -> None:
        """What its OS cannot rename keeps its name (design-2.0, "The Scripts")."""
        self.cluster.node(2).disk.remove(self.cluster.paths.os_search_path[0] / "noop" / "rename")
        self.fails(RENAME, "has no rename script, so its instances cannot be renamed")
        self.assertEqual(self.names(), [OLD])

    def test_script_fails(self) -> None:
        """A script that fails is warned of; the instance has its new name."""
        self.cluster.network.fault = fail_kind(InstanceRunRename, Says("no such host name file"))
        said = self.ok(RENAME)
        self.assertIn("Could not run OS rename script for instance web2.example.com on node node2.example.com", said)
        self.assertEqual((self.names(), places(self.cluster)), ([NEW], {NEW}))

    def test_dry_run(self) -> None:
        """The plan is told, nothing is changed."""
        said = self.ok(f"{RENAME} --dry-run".replace("rename web1 web2 --dry-run", "rename --dry-run web1 web2"))
        self.assertIn("rename its disks", said)
        self.assertEqual((self.names(), places(self.cluster)), ([OLD], {OLD}))

    def test_at_the_same_time(self) -> None:
        """Of two that want the same name one gets it; who waits for the old name is told."""
        self.ok(ADD.replace("web1", "web3"))
        scene = self.scene()
        jobs = [scene.submit(f"gnt-instance rename --submit {name} web2") for name in ("web1", "web3")]
        jobs.append(scene.submit("gnt-instance startup --submit web1"))
        self.cluster.pass_time(60)
        self.assertEqual(self.statuses(*jobs), ["success", "error", "error"])
        self.assertEqual(self.names(), [NEW, "web3.example.com"])

    def test_shared_files(self) -> None:
        """Disks that all nodes see are renamed once."""
        self.ok("gnt-instance add -t sharedfile -s 1G -o noop -n node3 --no-start web3")
        self.ok("gnt-instance rename web3 web4")
        (path,) = self.cluster.disks()["shared"]
        self.assertIn("/web4.example.com/", path)
