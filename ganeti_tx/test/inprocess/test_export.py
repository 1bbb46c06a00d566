"""gnt-backup export in a whole cluster."""

import hashlib
from pathlib import Path

from ganeti_tx.rpc.calls.backup import DumpImportStart, ExportRemove, FinalizeExport, ScriptExportStart
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevShutdown
from ganeti_tx.rpc.calls.guest import InstanceFreeze, InstanceThaw
from ganeti_tx.rpc.calls.instance import InstanceStart
from ganeti_tx.rpc.calls.mirror import BlockdevSnapshot
from ganeti_tx.test.inprocess.agreement import disagreements
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.mirrors import mirrored_cluster
from ganeti_tx.test.inprocess.network import Says

ADD = "gnt-instance add -t file --disk 0:size=128M,name=root --disk 1:size=64M -o noop --ignore-ipolicy -n node2 web1"
NAME = "web1.example.com"
AROUND = (InstanceFreeze, BlockdevSnapshot, InstanceThaw)


def untimed(told: str) -> list[str]:
    """The lines of a command without their times."""
    return [line.split(" ", 5)[-1] for line in told.splitlines()]


class ExportCase(ClusterCase):
    """An instance with two disks on node2."""

    def made(self, options: str = "", line: str = ADD) -> None:
        """It is there, and something is on its disks."""
        self.ok(line.replace("web1", f"{options} web1"))
        node = self.cluster.node(2)
        volumes = node.mirror_node.volumes.disks if node.mirror_node else {}
        for disk in (*node.files_storage.disks.values(), *volumes.values()):
            disk.content = "what was written"

    def file(self, number: int, name: str = NAME) -> Path:
        """A directory of an export."""
        return self.cluster.paths.export_dir / name

    def config(self, number: int) -> str:
        """The description of the export on a node."""
        return self.cluster.node(number).disk.read(self.file(number) / "config.ini", 1 << 20).decode()

    def listed(self) -> str:
        """The exports that there are."""
        return self.ok("gnt-backup list --no-headers --separator=|")

    def agreed(self) -> None:
        """Nothing is amiss."""
        self.assertEqual(disagreements(self.cluster), [])


class FileExportTests(ExportCase):
    """Disks in files, which have no snapshots."""

    def test_stopped(self) -> None:
        """All of it is there, as it is told, and the disks are down again."""
        self.made("--no-start --tags=b,a")
        self.assertEqual(
            untimed(self.ok("gnt-backup export -n node1 web1")),
            [
                f"Shutting down instance {NAME}",
                f"Activating disks for {NAME}",
                "Exporting disk/0 from node2.example.com to node1.example.com",
                "Exporting disk/1 from node2.example.com to node1.example.com",
                "disk/0 is now listening, starting export",
                "disk/1 is now listening, starting export",
                "disk/0 is receiving data on node1.example.com",
                "disk/1 is receiving data on node1.example.com",
                "disk/0 is sending data on node2.example.com",
                "disk/1 is sending data on node2.example.com",
                "disk/0 finished receiving data",
                "disk/1 finished receiving data",
                "disk/0 finished sending data",
                "disk/1 finished sending data",
                f"Deactivating disks for {NAME}",
                "Finalizing export on node1.example.com",
                f"Removing old exports for instance {NAME}",
            ],
        )
        self.assertEqual(self.listed(), f"node1.example.com|{NAME}\n")
        [instance] = self.cluster.config.instances.values()
        digest = hashlib.sha256(b"what was written").hexdigest()
        for number, uuid in enumerate(instance.disks):
            self.assertIn(f"disk{number}_dump = {uuid}\n", self.config(1))
            self.assertIn(f"disk{number}_sha256 = {digest}\n", self.config(1))
            self.assertEqual(self.cluster.node(1).disk.content(self.file(1) / uuid), (b"what was written", 0o600))
        for line in ("tags = a b", "disk0_name = root", "disk1_size = 64", "disk_count = 2", "os = noop"):
            self.assertIn(f"\n{line}\n", self.config(1))
        self.assertFalse(any(disk.assembled for disk in self.cluster.node(2).files_storage.disks.values()))
        self.agreed()

    def test_again_elsewhere(self) -> None:
        """The older export goes, also one to the node of the disks; what is left of a failed one is no hindrance."""
        self.made("--no-start")
        self.ok("gnt-backup export -n node1 web1")
        put(self.cluster.node(2).disk, self.file(2, f"{NAME}.new") / "rest", b"")
        self.ok("gnt-backup export --transport-compression=gzip -n node2 web1")
        self.ok("gnt-backup export -n node2 web1")
        self.assertEqual(self.listed(), f"node2.example.com|{NAME}\n")
        self.agreed()

    def test_running(self) -> None:
        """It must be down for long, and that must be said; then it runs again."""
        self.made()
        before = self.cluster.config
        self.fails("gnt-backup export -n node1 web1", "wrong_state.*\n.*snapshotted.*--long-sleep")
        self.fails("gnt-backup export -n node1 --noshutdown web1", "snapshotted.*--long-sleep")
        self.assertIs(self.cluster.config, before)
        told = untimed(self.ok("gnt-backup export --long-sleep -n node1 web1"))
        self.assertEqual(
            [line for line in told if "disk/" not in line],
            [
                f"Shutting down instance {NAME}",
                "Finalizing export on node1.example.com",
                f"Starting instance {NAME}",
                f"Removing old exports for instance {NAME}",
            ],
        )
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
        self.agreed()

    def test_removed(self) -> None:
        """The instance is gone, and its export is there; while it runs it must be shut down for that."""
        self.made()
        self.fails(
            "gnt-backup export -n node1 --noshutdown --remove-instance web1", "wrong_state.*\n.*shut down before"
        )
        told = untimed(self.ok("gnt-backup export -n node1 --remove-instance web1"))
        self.assertIn(f"Removing instance {NAME}", told)
        self.assertEqual(self.listed(), f"node1.example.com|{NAME}\n")
        self.assert_nothing_left(self.cluster)
        self.agreed()

    def test_diskless(self) -> None:
        """There is nothing but the description."""
        self.ok("gnt-instance add -t diskless -o noop --no-install -n node2 web1")
        self.ok("gnt-backup export -n node1 web1")
        self.assertIn("disk_count = 0\n", self.config(1))
        self.agreed()

    def test_refused(self) -> None:
        """What cannot be is told before anything is done."""
        self.made("--no-start")
        self.ok("gnt-instance add -t file -s 64M --no-install --ignore-ipolicy -n node2 web2")
        for line, reason in (
            ("web1", "wrong_input.*\n.*Target node must be specified"),
            ("-n nosuch web1", "unknown_entity.*\n.*nosuch"),
            ("-n node1 nosuch", "unknown_entity.*\n.*nosuch"),
            ("-n node1 --transport-compression=bogus web1", "wrong_input.*\n.*'bogus'; allowed are none, gzip"),
            ("-n node1 --noshutdown --long-sleep web1", "wrong_input.*\n.*long sleep option only makes sense"),
            ("-n node1 --zero-free-space web1", "wrong_input.*\n.*zeroing image must be set"),
            ("-n node1 web2", "wrong_state.*\n.*has no operating system"),
        ):
            self.fails(f"gnt-backup export {line}", reason)
        scene = self.scene()
        status, out, err = scene.run(["gnt-cluster", "modify", "--zeroing-image=/srv/zeroing.img"])
        self.assertEqual(status, 0)
        for node in ("node1", "node2", "node3"):
            self.assertRegex(out + err, f"zeroing_image: node {node}.example.com cannot use it: .*No such file")
        self.fails(
            "gnt-backup export -n node1 --zero-free-space web1",
            "environment_error.*\n.*/srv/zeroing.img.*must be a file on this node",
        )
        directory = self.cluster.paths.os_search_path[0] / "noop"
        for script in ("export", "import"):
            self.cluster.node(2).disk.remove(directory / script)
        self.fails("gnt-backup export -n node1 web1", "wrong_input.*\n.*no export script.*cannot be exported")
        self.ok("gnt-node modify -D yes node3")
        self.fails("gnt-backup export -n node3 web1", "wrong_state.*\n.*node3.example.com is drained")
        self.assertEqual(self.listed(), "")

    def test_fails(self) -> None:
        """The former export and the instance stay as they were, whatever fails."""
        self.made()
        self.ok("gnt-backup export --long-sleep -n node1 web1")
        former = self.config(1)
        for kind in (DumpImportStart, ScriptExportStart, FinalizeExport):

            def refuse(node: str, call: NodeCall[object], kind: type[NodeCall[object]] = kind) -> Says | None:
                return Says("not today") if isinstance(call, kind) else None

            self.cluster.network.fault = refuse
            self.fails("gnt-backup export --long-sleep -n node1 web1", "not today")
            self.cluster.network.fault = None
            self.assertEqual(self.config(1), former)
            self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
            self.agreed()

    def test_cannot_be_started(self) -> None:
        """The export is there; what to do is said."""
        self.made()
        self.cluster.network.fault = lambda node, call: Says("no") if isinstance(call, InstanceStart) else None
        self.fails("gnt-backup export --long-sleep -n node1 web1", f"'gnt-instance startup {NAME}' starts it")
        self.cluster.network.fault = None
        self.assertEqual(self.listed(), f"node1.example.com|{NAME}\n")
        self.agreed()

    def test_older_stays(self) -> None:
        """An older export that cannot be removed is told of."""
        self.made("--no-start")
        self.ok("gnt-backup export -n node1 web1")
        self.cluster.network.fault = lambda node, call: Says("no") if isinstance(call, ExportRemove) else None
        told = self.ok("gnt-backup export -n node3 web1")
        self.cluster.network.fault = None
        self.assertRegex(told, "WARNING: could not remove the export of web1.* on node node1")

    def test_canceled(self) -> None:
        """While it copies: it runs again, and nothing is left."""
        self.made()
        job_id = self.scene().submit("gnt-backup export --submit --long-sleep -n node1 web1")
        while not any(isinstance(each.call, ScriptExportStart) for each in self.cluster.network.sent):
            self.cluster.pass_time(0.01)
        self.ok(f"gnt-job cancel --kill --yes-do-it {job_id}")
        self.cluster.pass_time(30)
        self.assertEqual(self.statuses(job_id), ["canceled"])
        self.assertEqual((self.cluster.running(), self.listed()), ({"node2.example.com": [NAME]}, ""))
        self.agreed()

    def test_result(self) -> None:
        """As Ganeti's clients read it: whether it is whole, and each disk."""
        self.made("--no-start")
        job_id = self.scene().submit("gnt-backup export --submit -n node1 web1")
        self.cluster.pass_time(60)
        self.assertEqual(self.job(job_id).ops[0].result, [True, [True, True]])
        self.assertIn("dry-run", self.ok("gnt-backup export --dry-run -n node1 web1"))

    def test_prepared(self) -> None:
        """There is nothing to prepare for an export within the cluster."""
        self.made("--no-start")
        for mode, status in (("local", "success"), ("remote", "error")):
            op = {"OP_ID": "OP_BACKUP_PREPARE", "instance_name": "web1", "mode": mode, "reason": []}
            job_id = self.luxi().submit_job([op])
            self.cluster.pass_time(10)
            self.assertEqual(self.statuses(job_id), [status])


class SnapshotTests(ExportCase):
    """Disks that can have snapshots."""

    def new_cluster(self, seed: int = 0):  # type: ignore[no-untyped-def]
        """With volumes and mirrors."""
        cluster, _ = mirrored_cluster()
        self.addCleanup(cluster.end)
        return cluster

    def test_running(self) -> None:
        """It is down only until there are snapshots, of which none is left."""
        for template, node in (("plain", "node2"), ("drbd", "node2:node3")):
            self.ok(f"gnt-cluster modify --enabled-disk-templates={template},file,drbd,plain,diskless")
            self.made("", f"gnt-instance add -t {template} -s 128M -o noop --ignore-ipolicy -n {node} web1")
            told = untimed(self.ok("gnt-backup export -n node1 web1"))
            self.assertEqual(
                [line for line in told if " disk/" not in f" {line}" or "snapshot" in line],
                [
                    f"Shutting down instance {NAME}",
                    "Creating a snapshot of disk/0 on node node2.example.com",
                    f"Starting instance {NAME}",
                    "Removing snapshot of disk/0 on node node2.example.com",
                    "Finalizing export on node1.example.com",
                    f"Removing old exports for instance {NAME}",
                ],
            )
            [dump] = [line.split(" = ")[1] for line in self.config(1).splitlines() if line.startswith("disk0_dump")]
            self.assertEqual(self.cluster.node(1).disk.read(self.file(1) / dump, 99), b"what was written")
            self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
            self.agreed()
            before = len(self.cluster.network.sent)
            self.assertNotIn("Starting", self.ok("gnt-backup export --noshutdown -n node3 web1"))
            self.assertEqual(
                [each.call.name for each in self.cluster.network.sent[before:] if isinstance(each.call, AROUND)],
                ["instance_freeze", "blockdev_snapshot", "instance_thaw"],
            )
            self.agreed()
            self.ok("gnt-instance remove -f web1")

    def test_fails(self) -> None:
        """A snapshot that cannot be made, or not be removed: it runs, and what could be removed is."""
        self.ok("gnt-cluster modify --enabled-disk-templates=plain,file,diskless")
        self.made("", "gnt-instance add -t plain -s 128M -o noop --ignore-ipolicy -n node2 web1")
        self.cluster.network.fault = lambda node, call: Says("full") if isinstance(call, BlockdevSnapshot) else None
        self.fails("gnt-backup export -n node1 web1", "Not all disks could be snapshotted.*disk/0: .*full")
        self.cluster.network.fault = None
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
        self.agreed()

    def test_not_frozen(self) -> None:
        """Why its guest does not stand still is said, and it is exported all the same; and so is that it went on too early."""
        self.ok("gnt-cluster modify --enabled-disk-templates=plain,file,diskless")
        self.made("", "gnt-instance add -t plain -s 128M -o noop --ignore-ipolicy -n node2 web1")
        line = "gnt-backup export --noshutdown -n node1 web1"
        for kind, said in (
            (InstanceFreeze, f"The file systems of instance {NAME} are not frozen, the export is as .*: no agent"),
            (InstanceThaw, "could not let the file systems of the instance go on: .*no agent"),
        ):
            self.cluster.network.fault = lambda node, call, kind=kind: (
                Says("no agent") if isinstance(call, kind) else None
            )
            self.assertRegex(self.ok(line), said)
        self.cluster.network.fault = None
        self.assertNotIn("frozen", self.ok(line))
        self.agreed()

    def test_frozen_and_fails(self) -> None:
        """A snapshot that cannot be made: the guest goes on before anything else."""
        self.ok("gnt-cluster modify --enabled-disk-templates=plain,file,diskless")
        self.made("", "gnt-instance add -t plain -s 128M -o noop --ignore-ipolicy -n node2 web1")
        self.cluster.network.fault = lambda node, call: Says("full") if isinstance(call, BlockdevSnapshot) else None
        before = len(self.cluster.network.sent)
        self.fails("gnt-backup export --noshutdown -n node1 web1", "disk/0: .*full")
        around = [each.call.name for each in self.cluster.network.sent[before:] if isinstance(each.call, AROUND)]
        self.assertEqual(around[:3], ["instance_freeze", "blockdev_snapshot", "instance_thaw"])
        self.agreed()

    def test_mirror_down(self) -> None:
        """One that is down is made ready on both nodes, and taken down again."""
        self.made("--no-start", "gnt-instance add -t drbd -s 128M -o noop --ignore-ipolicy -n node2:node3 web1")
        self.ok("gnt-backup export -n node1 web1")
        taken = {each.node for each in self.cluster.network.sent if isinstance(each.call, BlockdevShutdown)}
        self.assertGreaterEqual(taken, {"node2.example.com", "node3.example.com"})
        self.agreed()
