"""Instances on external storage, in a cluster in which all nodes have a provider."""

from ganeti_tx.runtime.boot_id import BOOT_ID
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.each_call import EachCallCase, Operation
from ganeti_tx.test.inprocess.test_each_call import is_gone, is_there
from ganeti_tx.test.inprocess.test_rapi import RapiCase

ENABLE = "gnt-cluster modify --enabled-disk-templates ext,file --ipolicy-disk-templates ext,file"
ADD = "gnt-instance add -t ext --disk 0:size=1g,provider=shelf,colour=red -o noop -n node2 web1"


class LifeTests(ClusterCase):
    """From creation to removal."""

    def test_life(self) -> None:
        """Its volume is made, attached while it runs, and removed with it."""
        self.fails(ADD, "not enabled")
        self.ok(ENABLE)
        self.ok(ADD)
        (disk,) = self.cluster.config.disks.values()
        name = f"shelf/{disk.uuid}.ext.disk0"
        self.assertEqual(list(self.cluster.shared.external.volumes), [name])
        self.assertEqual(self.cluster.shared.external.volumes[name].owner, "originstname+web1.example.com")
        self.assertEqual((disk.nodes, disk.params), ((), {"provider": "shelf", "colour": "red"}))
        self.ok("gnt-cluster verify")
        self.ok("gnt-instance shutdown web1")
        self.assertEqual(self.ran()[-2:], ["close", "detach"])
        self.ok("gnt-instance startup web1")
        self.assertIn("shelf", self.ok("gnt-instance info web1"))
        self.ok("gnt-instance remove --force web1")
        self.assert_nothing_left(self.cluster)

    def test_out_of_reach(self) -> None:
        """An instance whose volume could not be removed stays, unless that is to be ignored."""
        self.made_and_stopped()
        self.cluster.shared.external.broken = {"remove", "attach"}
        self.removed_in_spite()

    def test_lost(self) -> None:
        """So does one whose volume is gone, if its provider fails because of that."""
        self.made_and_stopped()
        self.cluster.shared.external.volumes.clear()
        self.cluster.shared.external.removes_twice = False
        self.removed_in_spite()

    def test_lost_while_attached(self) -> None:
        """One whose volume is lost while it runs is removed, though it can be neither closed nor detached any more."""
        self.ok(ENABLE)
        self.ok(ADD)
        self.cluster.shared.external.volumes.clear()
        self.ok("gnt-instance remove --force web1")
        self.assert_nothing_left(self.cluster)

    def test_repeated(self) -> None:
        """A removal that got as far as one of two disks is repeated, also if its provider fails at what is gone already."""
        self.ok(ENABLE)
        self.ok(ADD.replace("-o noop", "--disk 1:size=1g,provider=shelf -o noop"))
        self.ok("gnt-instance shutdown web1")
        external = self.cluster.shared.external
        first, second = external.volumes
        external.removes_twice, external.stuck = False, {second}
        self.assertRegex(self.not_removed(), "remove exited with status 3;.* it can be attached, so that it is there")
        self.assertNotIn(first, external.volumes)
        external.stuck = set()
        self.ok("gnt-instance remove --force web1")
        self.assert_nothing_left(self.cluster)

    def test_let_go(self) -> None:
        """A look at the disk of an instance that is stopped, and whose disks are not activated, does not leave it attached."""
        self.made_and_stopped()
        for command in ("gnt-instance info web1", "gnt-cluster verify", "gnt-cluster repair-disk-sizes web1"):
            before = len(self.ran())
            self.ok(command)
            self.assertEqual(self.ran()[before:], ["attach", "detach"], command)
        self.ok("gnt-instance activate-disks web1")
        before = len(self.ran())
        self.ok("gnt-instance info web1")
        self.assertEqual(self.ran()[before:], [])

    def made_and_stopped(self) -> None:
        """An instance that does not run."""
        self.ok(ENABLE)
        self.ok(ADD)
        self.ok("gnt-instance shutdown web1")

    def removed_in_spite(self) -> None:
        """Only when failures are ignored, with what the script said."""
        said = self.not_removed()
        self.assertIn("it cannot be attached, either: it is gone, or out of reach", said)
        self.assertIn(
            "'gnt-instance remove --ignore-failures web1.example.com' removes the instance all the same", said
        )
        self.assertIn("web1", self.ok("gnt-instance list"))
        self.assertIn("remove exited with", self.ok("gnt-instance remove --force --ignore-failures web1"))
        self.assertNotIn("web1", self.ok("gnt-instance list"))

    def not_removed(self) -> str:
        """What is said where the disks of the instance cannot be removed."""
        status, out, err = self.scene().run(["gnt-instance", "remove", "--force", "web1"])
        self.assertEqual(status, 1)
        self.assertIn("cannot remove the disks of instance web1.example.com; ", err)
        return out + err

    def ran(self) -> list[str]:
        """The scripts, in order."""
        return [script for script, _ in self.cluster.shared.external.ran]

    def test_refused(self) -> None:
        """No provider, one that is not there, strange parameters: nothing is done."""
        self.ok(ENABLE)
        self.fails(ADD.replace(",provider=shelf", ""), "disk/0: provider is missing")
        self.fails(ADD.replace("=shelf", "=other"), "provider 'other' not found on node node2.example.com")
        self.fails(ADD.replace("colour", "size_of"), "provider 'shelf' has no parameter 'size_of'; allowed: colour")
        self.fails(ADD.replace("colour=red", "access=sideways"), "allowed are kernelspace, userspace")
        self.cluster.node(2).disk.remove(self.cluster.paths.extstorage_search_path[0] / "shelf/grow")
        self.fails(ADD, "provider 'shelf' of node node2.example.com cannot be used: script grow is missing")
        self.assertEqual(self.ran(), [])
        self.assert_nothing_left(self.cluster)

    def test_lines(self) -> None:
        """Scripts may write what they are told into files of lines, so control characters are refused, whoever says them."""
        self.ok(ENABLE)
        self.ok(ADD)
        self.ok("gnt-instance add --no-start -t file --disk 0:size=1g -o noop -n node2 web2")
        for line in (
            ADD.replace("web1", "web3").replace("red", "red\x1b"),
            "gnt-instance modify --disk 0:colour=red\x1b web1",
            "gnt-instance modify -t ext --ext-params provider=shelf,colour=red\x1b web2",
        ):
            self.fails(line, r"disk/0\.colour: 'red\\x1b' is not allowed: control characters")
        given = [disk.params for disk in self.cluster.config.disks.values() if disk.params]
        self.assertEqual(given, [{"provider": "shelf", "colour": "red"}])

    def test_shown(self) -> None:
        """Nodes do not tell the room of such storage, and a parameter needs a value."""
        self.ok(ENABLE.replace("ext,file", "ext"))
        shown = self.ok("gnt-node list --no-headers -o name,dtotal,dfree node2")
        self.assertEqual(shown.split()[1:], ["-", "-"])
        self.fails(ADD.replace("colour=red", "colour"), "colour")
        self.assert_nothing_left(self.cluster)

    def test_power_lost(self) -> None:
        """What was attached before a node was started anew is attached again."""
        self.ok(ENABLE)
        self.ok(ADD)
        (disk,) = self.cluster.config.disks.values()
        node = self.cluster.node(2)
        record = node.paths.run_dir / "extstorage" / f"shelf:{disk.uuid}.ext.disk0"
        self.assertTrue(node.disk.exists(record))
        node.stop()
        put(node.disk, BOOT_ID, b"another boot\n")
        node.start()
        before = len(self.ran())
        self.ok("gnt-cluster verify-disks")
        self.ok("gnt-instance activate-disks web1")
        self.assertIn("open", self.ran()[before:])

    def test_looked_at(self) -> None:
        """Who looks takes no volume away from an instance that has run since before this node daemon recorded any."""
        self.ok(ENABLE)
        self.ok(ADD)
        (disk,) = self.cluster.config.disks.values()
        node = self.cluster.node(2)
        for command in ("gnt-instance info web1", "gnt-cluster verify-disks"):
            node.disk.remove(node.paths.run_dir / "extstorage" / f"shelf:{disk.uuid}.ext.disk0")
            before = len(self.ran())
            self.ok(command)
            self.assertEqual(self.ran()[before:], ["attach"])
        self.ok("gnt-instance shutdown web1")
        self.assertEqual(self.ran()[-1], "detach")

    def test_script_fails(self) -> None:
        """What fails is taken back."""
        self.ok(ENABLE)
        self.cluster.shared.external.broken = {"attach"}
        self.fails(ADD, "attach exited with status 3")
        self.assert_nothing_left(self.cluster)


class ExportTests(ClusterCase):
    """What is exported while it runs."""

    def test_no_snapshots(self) -> None:
        """A provider without a script for snapshots is known before the instance is stopped."""
        self.ok(ENABLE)
        self.ok(ADD)
        self.cluster.node(2).disk.remove(self.cluster.paths.extstorage_search_path[0] / "shelf/snapshot")
        before = len(self.cluster.shared.external.ran)
        self.fails("gnt-backup export -n node1 web1", "wrong_state.*\n.*--long-sleep.*disk/0: .*no script for it")
        self.assertEqual(self.cluster.shared.external.ran[before:], [])
        self.assertEqual(self.cluster.running(), {"node2.example.com": ["web1.example.com"]})
        self.ok("gnt-backup export --long-sleep -n node1 web1")


class EachCallTests(EachCallCase):
    """Whatever fails, and wherever the job is ended, the configuration and the volumes agree."""

    def check(self, operation: Operation) -> None:
        """In all ways."""
        self.check_troubles(operation)
        self.check_ended(operation, self.kill)
        self.check_ended(operation, self.cancel)

    def test_create(self) -> None:
        """Creation."""
        self.check(Operation(ADD, before=(ENABLE,), done=is_there))

    def test_remove(self) -> None:
        """Removal."""
        self.check(Operation("gnt-instance remove -f web1", before=(ENABLE, ADD), partly=True, done=is_gone))


class ProviderTests(ClusterCase):
    """What is told of providers that are not the same everywhere."""

    def verify(self) -> str:
        """What verification says."""
        _, out, err = self.scene().run(["gnt-cluster", "verify", "--error-codes"])
        return out + err

    def test_commands(self) -> None:
        """The commands show them; a fault on one node makes it invalid for the group."""
        self.assertIn("For nodegroup: default --> valid", self.ok("gnt-storage diagnose"))
        self.assertIn("shelf:\n", self.ok("gnt-storage info shelf"))
        self.cluster.node(3).disk.remove(self.cluster.paths.extstorage_search_path[0] / "shelf/attach")
        out = self.ok("gnt-storage diagnose")
        self.assertIn("status: invalid - script attach is missing", out)
        self.assertIn("For nodegroup: default --> invalid", out)

    def test_verify(self) -> None:
        """Providers that are missing, cannot be used or differ are told, where disks may be of them."""
        path = self.cluster.paths.extstorage_search_path[0] / "shelf"
        self.cluster.node(2).disk.remove(path / "attach")
        self.cluster.node(1).add_provider("box")
        for number, parameters in ((1, b"a x\n"), (2, b"b x\n")):
            put(self.cluster.node(number).disk, self.cluster.paths.extstorage_search_path[1] / "old" / "x", b"")
            self.cluster.node(number).add_provider("bag", parameters)
        self.assertNotIn("storage provider", self.verify())
        self.ok(ENABLE)
        said = self.verify()
        code = "ERROR:ENODEUSERSCRIPTS:node:node"
        for text in (
            f"{code}2.example.com:Invalid storage provider shelf (located at {path}): script attach is missing",
            f"{code}3.example.com:storage provider box is on node node1.example.com and missing on this node",
            f"{code}2.example.com:parameters of storage provider bag differ from node node1.example.com: [b] vs. [a]",
        ):
            self.assertIn(text, said)

    def test_used(self) -> None:
        """A provider that an instance's disk needs is missed by the instance's name."""
        self.ok(ENABLE)
        self.ok(ADD)
        self.assertNotIn("storage provider", self.verify())
        directory = self.cluster.paths.extstorage_search_path[0]
        node = self.cluster.node(3)
        for name in node.disk.listdir(directory / "shelf"):
            node.disk.remove(directory / "shelf" / name)
        node.disk.rmdir(directory / "shelf")
        text = "node3.example.com:storage provider shelf of instance web1.example.com is missing"
        self.assertIn(text, self.verify())


class ModifyTests(ClusterCase):
    """Changing an instance that has such disks."""

    def test_disks(self) -> None:
        """Disks are added, and their provider told otherwise, only as it allows; nothing is done else."""
        self.ok(ENABLE)
        self.ok(ADD)
        change = "gnt-instance modify --disk"
        self.fails(f"{change} add:size=1g,provider=other web1", "provider 'other' not found on node node2.example.com")
        self.fails(f"{change} add:size=1g,provider=shelf,x=y web1", "has no parameter 'x'; allowed: colour")
        self.fails(f"{change} add:size=1g web1", "provider is missing")
        self.fails(f"{change} 0:x=y web1", "has no parameter 'x'; allowed: colour")
        self.assertEqual(len(self.cluster.shared.external.volumes), 1)
        self.ok(f"{change} add:size=1g,provider=shelf,colour=blue web1")
        self.ok(f"{change} 0:colour=green web1")
        colours = sorted(str((disk.params or {})["colour"]) for disk in self.cluster.config.disks.values())
        self.assertEqual((colours, len(self.cluster.shared.external.volumes)), (["blue", "green"], 2))
        self.ok("gnt-instance remove --force web1")
        self.assert_nothing_left(self.cluster)

    def test_access(self) -> None:
        """How hypervisors open volumes is set for the cluster, a group or a disk, in words that are known."""
        self.ok(ENABLE)
        self.fails("gnt-cluster modify -D ext:access=sideways", "allowed are kernelspace, userspace")
        self.ok("gnt-cluster modify -D ext:access=userspace")
        self.ok("gnt-group modify -D ext:access=kernelspace default")
        self.ok(ADD.replace("colour=red", "access=userspace"))
        (disk,) = self.cluster.config.disks.values()
        self.assertEqual(disk.params, {"provider": "shelf", "access": "userspace"})


class RemoteTests(RapiCase):
    """By the Remote API."""

    def test_made(self) -> None:
        """What is said of a disk besides is its provider's."""
        self.ok(ENABLE)
        body = {
            "__version__": 1, "mode": "create", "name": "web1.example.com", "os": "noop", "disk_template": "ext", "nics": [{}],
            "disks": [{"size": 1024, "provider": "shelf", "colour": "red"}], "pnode": "node2.example.com",
        }  # fmt: skip
        wrong = {**body, "disks": [{"size": 1024, "provider": "shelf", "colour": "red\n/etc/x {"}]}
        job_id = self.send("POST", "/2/instances", wrong)
        self.cluster.pass_time(30)
        self.assertIn(
            "control characters, such as a line's end", str(self.send("GET", f"/2/jobs/{job_id}")["opresult"])
        )
        self.done("POST", "/2/instances", body)
        (disk,) = self.cluster.config.disks.values()
        self.assertEqual(disk.params, {"provider": "shelf", "colour": "red"})
