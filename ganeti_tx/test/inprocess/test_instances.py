"""Instances from their creation to their removal, by command lines."""

from pathlib import Path

from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put

NAME = "web1.example.com"
ADD = "gnt-instance add -t file -s 1G -o noop -n node2"


class CreateTests(ClusterCase):
    """What a creation makes, and what it refuses."""

    def test_what_is_made(self) -> None:
        """Disks are there with their sizes, the OS script has run once with its parameters, the instance runs."""
        line = (
            "gnt-instance add -t file --disk 0:size=1G --disk 1:size=512M,mode=ro -o noop -O flavour=mint -n node2 web1"
        )
        self.ok(line.replace("512M", "2G"))
        node = self.cluster.node(2)
        self.assertEqual(sorted(each.size for each in node.files_storage.disks.values()), [1024, 2048])
        (call,) = [call for call in node.scripts.calls if call.argv[0].endswith("/create")]
        self.assertEqual(call.env["INSTANCE_NAME"], NAME)
        self.assertEqual(call.env["OSP_FLAVOUR"], "mint")
        self.assertEqual(call.env["DISK_COUNT"], "2")
        self.assertEqual(self.cluster.running(), {node.name: [NAME]})
        self.assertEqual(len(self.cluster.config.disks), 2)

    def test_shared_files(self) -> None:
        """A disk in shared files belongs to no node."""
        self.ok("gnt-instance add -t sharedfile -s 1G -o noop -n node3 web1")
        (disk,) = self.cluster.config.disks.values()
        self.assertEqual(disk.nodes, ())
        self.assertEqual(list(self.cluster.disks()), ["shared"])
        self.ok("gnt-instance remove -f web1")
        self.assert_nothing_left(self.cluster)

    def test_no_bridge(self) -> None:
        """The bridge is named, and how to have another one."""
        said = self.fails(f"{ADD} --net 0:link=nobridge web1", "Missing bridges nobridge")
        self.assertIn("gnt-cluster modify --nic-parameters link=BRIDGE", said)

    def test_no_start(self) -> None:
        """--no-start installs only; --no-install makes disks only."""
        self.ok(f"{ADD} --no-start web1")
        self.ok(f"{ADD} --no-install --no-start web2")
        self.assertEqual(self.cluster.running(), {})
        self.assertEqual(len([call for call in self.cluster.node(2).scripts.calls if "create" in call.argv[0]]), 1)

    def test_dry_run(self) -> None:
        """A dry run checks everything and makes nothing."""
        job_id = self.scene().submit(f"{ADD} --dry-run --submit web1")
        self.cluster.pass_time(20)
        self.assertEqual(self.job(job_id).ops[0].result, ["node2.example.com"])
        self.fails(f"{ADD.replace('noop', 'nothing')} --dry-run web1", "nothing")
        self.assert_nothing_left(self.cluster)

    def test_names_differ(self) -> None:
        """Two instances have different MAC addresses, UUIDs and disks."""
        self.ok(f"{ADD} web1")
        self.ok(f"{ADD} web2")
        macs = self.ok("gnt-instance list --no-headers -o nic.mac/0").split()
        self.assertEqual(len(set(macs)), 2)
        self.assertEqual(len(self.cluster.node(2).files_storage.disks), 2)

    def test_same_name_at_the_same_time(self) -> None:
        """Of two creations of one name only one succeeds, and its instance is whole."""
        scene = self.scene()
        jobs = [scene.submit(f"{ADD.replace('add', 'add --submit', 1)} web1") for _ in range(2)]
        self.cluster.pass_time(60)
        self.assertEqual(sorted(self.statuses(*jobs)), ["error", "success"])
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
        self.assertEqual(len(self.cluster.node(2).files_storage.disks), 1)

    def test_many_at_the_same_time(self) -> None:
        """Creations on the same nodes go on together, and all succeed."""
        scene = self.scene()
        before = self.cluster.time.seconds()
        jobs = [scene.submit(f"{ADD.replace('add', 'add --submit', 1)} web{number}") for number in range(1, 9)]
        for job_id in jobs:
            self.ok(f"gnt-job wait {job_id}")
        self.assertEqual(set(self.statuses(*jobs)), {"success"})
        self.assertLess(self.cluster.time.seconds() - before, 12)
        self.assertEqual(len(self.cluster.running()["node2.example.com"]), 8)

    def test_mac_twice(self) -> None:
        """A MAC address that another instance has is refused."""
        mac = "aa:00:00:12:34:56"
        self.ok(f"{ADD} --net 0:mac={mac} web1")
        told = self.fails(f"{ADD} --net 0:mac={mac} web2", f"MAC address {mac} already in use in cluster")
        self.assertEqual(told.count(mac), 1)
        self.assertEqual(len(self.cluster.config.instances), 1)

    def test_os_is_not_there(self) -> None:
        """An OS that the node does not have is refused, although another node has it."""
        self.cluster.node(1).add_os("lonely")
        self.fails(f"{ADD.replace('noop', 'lonely')} web1", "OS lonely not found")
        self.assert_nothing_left(self.cluster)

    def test_os_refuses_parameters(self) -> None:
        """A parameter that the OS does not know is refused."""
        self.fails(f"{ADD} -O colour=red web1", "not supported by the OS noop: colour")

    def test_directory_is_not_allowed(self) -> None:
        """Disks are made only where the node's administrator allows them."""
        put(self.cluster.node(2).disk, Path("/etc/ganeti/file-storage-paths"), b"/srv/elsewhere\n")
        self.fails(f"{ADD} web1", "is not allowed on this node.*/srv/elsewhere")
        self.assert_nothing_left(self.cluster)

    def test_directory_leads_out(self) -> None:
        """A directory that leads out of the cluster's own is refused."""
        self.fails(f"{ADD} --file-storage-dir ../../etc web1", r"\.\./\.\./etc")

    def test_memory(self) -> None:
        """More memory than the node has is refused when the instance is to start."""
        self.fails(f"{ADD} -B memory=7G web1", "Not enough memory on node node2.example.com")
        self.ok(f"{ADD} -B memory=7G --no-start web1")
        self.fails("gnt-instance startup web1", "Not enough memory")

    def test_policy(self) -> None:
        """What the instance policy does not admit is refused, unless it is to be ignored."""
        self.fails(f"{ADD} -B memory=64M web1", "memory-size")
        self.ok(f"{ADD} -B memory=64M --ignore-ipolicy web1")

    def test_bridge(self) -> None:
        """A bridge that the node does not have is refused."""
        self.fails(f"{ADD} --net 0:link=br7 web1", "br7")

    def test_template_is_not_there(self) -> None:
        """A template that is not enabled is refused."""
        self.fails("gnt-instance add -t plain -s 1G -o noop -n node2 web1", "'plain' is not enabled")


class PowerTests(ClusterCase):
    """Starting, stopping, restarting."""

    def setUp(self) -> None:
        super().setUp()
        self.ok(f"{ADD} web1")

    def status(self) -> str:
        """As the list shows it."""
        return self.scene().field("instance", "web1", "status")

    def test_life(self) -> None:
        """What is asked for is what is shown."""
        self.assertEqual(self.status(), "running")
        self.ok("gnt-instance shutdown web1")
        self.assertEqual((self.status(), self.cluster.running()), ("ADMIN_down", {}))
        self.ok("gnt-instance startup web1")
        self.assertEqual(self.status(), "running")
        for kind in ("soft", "hard", "full"):
            self.ok(f"gnt-instance reboot -t {kind} web1")
            self.assertEqual(self.status(), "running", kind)

    def test_crash_is_shown(self) -> None:
        """An instance that ended by itself is shown as down by error, and can be started."""
        node = self.cluster.node(2)
        node.disk.remove(self.cluster.paths.run_dir / "fake-hypervisor" / NAME)
        self.assertEqual(self.status(), "ERROR_down")
        self.ok("gnt-instance startup web1")
        self.assertEqual(self.status(), "running")

    def test_stop_without_remembering(self) -> None:
        """With --no-remember the configuration still says that it should run."""
        self.ok("gnt-instance shutdown --no-remember web1")
        self.assertEqual(self.status(), "ERROR_down")

    def test_again(self) -> None:
        """Starting what runs and stopping what does not run are no errors."""
        self.ok("gnt-instance startup web1")
        self.ok("gnt-instance shutdown web1")
        self.ok("gnt-instance shutdown web1")

    def test_node_is_silent(self) -> None:
        """A status that nobody can tell is shown as such; commands name the node."""
        self.cluster.network.cut_off.add(self.cluster.node(2).address)
        self.assertEqual(self.status(), "ERROR_nodedown")
        self.fails("gnt-instance reboot web1", "node2.example.com did not answer")

    def test_node_daemon_restarts(self) -> None:
        """Instances run on while the node daemon is restarted."""
        self.cluster.node(2).stop()
        self.cluster.node(2).start()
        self.assertEqual(self.status(), "running")

    def test_remove(self) -> None:
        """A running instance is stopped and removed with all it had."""
        self.ok("gnt-instance remove -f web1")
        self.assert_nothing_left(self.cluster)

    def test_remove_while_node_is_gone(self) -> None:
        """An instance whose node does not answer stays, unless failures are to be ignored."""
        self.cluster.node(2).stop()
        self.fails("gnt-instance remove -f web1", "node2.example.com")
        self.assertEqual(len(self.cluster.config.instances), 1)
        self.ok("gnt-instance remove -f --ignore-failures web1")
        self.assertEqual(dict(self.cluster.config.instances), {})

    def test_tags(self) -> None:
        """Tags given and taken are those that are listed."""
        self.ok("gnt-instance add-tags web1 a b")
        self.assertEqual(self.scene().field("instance", "web1", "tags"), "a,b")
        self.ok("gnt-instance remove-tags web1 a")
        self.assertEqual(self.scene().field("instance", "web1", "tags"), "b")
        self.fails("gnt-instance remove-tags web1 a", "a")
