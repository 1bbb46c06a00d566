"""Disks that are images, in a whole cluster: what is recorded of them, and what is refused."""

from collections.abc import Mapping
from typing import Any

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.logic.disks.formats import check_format
from ganeti_tx.model.disk_template import QCOW2, RAW
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.versions import DISK_FORMATS_SINCE, RELEASE_VERSION
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.verify_faults.of_nodes import version

ADD = "gnt-instance add --no-start --no-install -o noop --ignore-ipolicy -n node2"
RUNNING = "gnt-instance add -o noop --ignore-ipolicy"


class FormatTests(ClusterCase):
    """One instance after the other."""

    def params(self) -> list[Mapping[str, Any] | None]:
        """What is recorded of each disk of the instance."""
        [instance] = self.cluster.config.instances.values()
        return [self.cluster.config.disks[uuid].params for uuid in instance.disks]

    def test_recorded(self) -> None:
        """The format of a disk that is none of Ganeti's, and else nothing; it is shown, and never changes."""
        self.ok(f"{ADD} -t file --disk 0:size=128M,format=qcow2 --disk 1:size=64M,format=raw --disk 2:size=64M web1")
        self.assertEqual(self.params(), [{"format": "qcow2"}, None, None])
        told = self.ok("gnt-instance info web1")
        self.assertEqual(told.count("      format: "), 1)
        self.assertIn("      format: qcow2\n", told)
        self.fails("gnt-instance modify --disk 0:format=raw web1", "'format' cannot be changed")
        self.ok("gnt-instance modify --ignore-ipolicy --disk add:size=64M,format=qcow2 web1")
        self.assertEqual(self.params()[-1], {"format": "qcow2"})

    def test_not_wiped(self) -> None:
        """Nobody finds in an image what others have left, so it is not filled with zeros, which would only take room."""
        self.ok("gnt-cluster modify --prealloc-wipe-disks=yes")
        for disk, wiped in (("0:size=128M,format=qcow2", False), ("0:size=128M", True)):
            told = self.ok(f"{ADD} -t file --disk {disk} web1")
            self.assertEqual("Wiped " in told, wiped)
            self.ok("gnt-instance remove -f web1")

    def test_refused(self) -> None:
        """A word that is not allowed, and a template whose disks lie in no files."""
        line = f"{ADD} -t file --disk 0:size=128M,format=vmdk web1"
        self.fails(line, "disk/0: format 'vmdk' is not allowed; allowed are raw, qcow2")
        self.fails(f"{ADD} -t plain --disk 0:size=128M,format=qcow2 web1", "format|plain")
        self.assert_nothing_left(self.cluster)

    def test_older_node(self) -> None:
        """A node that would take an image for a raw disk gets none, and what runs elsewhere goes on there; verify names it."""
        self.ok(f"{RUNNING} -n node2 -t sharedfile --disk 0:size=64M,format=qcow2 web1")
        self.ok(f"{RUNNING} -n node2 -t file --disk 0:size=64M,format=qcow2 web3")
        version(DISK_FORMATS_SINCE - 1, RELEASE_VERSION)(self.cluster)
        why = "node3.example.com, which runs an older version that takes disks of format qcow2 for raw ones"
        before = self.cluster.config.instances, self.cluster.running()
        for line in (
            "gnt-instance failover -f -n node3 web1",
            "gnt-instance migrate -f -n node3 web1",
            "gnt-instance migrate -f --allow-failover -n node3 web1",
            "gnt-instance move -f -n node3 web3",
            "gnt-instance migrate -f --copy-disks -n node3 web3",
            f"{RUNNING} -n node3 -t file --disk 0:size=64M,format=qcow2 web2",
        ):
            status, out, err = self.scene().run(line.split())
            self.assertEqual((status, why in err, "shutting down" in out.lower()), (1, True, False), out + err)
            self.assertEqual((self.cluster.config.instances, self.cluster.running()), before, line)
        self.assertIn("node3.example.com: incompatible protocol", self.scene().run(["gnt-cluster", "verify"])[1])

    def test_older_home(self) -> None:
        """Nor is it started on one."""
        self.ok(f"{ADD.replace('node2', 'node3')} -t file --disk 0:size=64M,format=qcow2 web1")
        version(DISK_FORMATS_SINCE - 1, RELEASE_VERSION)(self.cluster)
        for verb in ("startup", "activate-disks"):
            status, out, err = self.scene().run(["gnt-instance", verb, "web1"])
            self.assertEqual(status, 1)
            self.assertIn("node3.example.com, which runs an older version", out + err)
            self.assertNotIn("could not undo", out + err)
        self.assertEqual(self.cluster.running(), {})

    def test_unreadable(self) -> None:
        """An instance is not ended for a restart without its disk."""
        self.ok(f"{RUNNING} -n node2 -t file --disk 0:size=64M,format=qcow2 web1")
        running = self.cluster.running()
        self.cluster.node(2).files_storage.disks.clear()
        for kind in ("hard", "full"):
            self.fails(f"gnt-instance reboot -t {kind} web1", "not there|does not exist")
            self.assertEqual(self.cluster.running(), running, kind)

    def test_converted(self) -> None:
        """The new disks have the format that is said, also if the template stays; without a word they are raw."""
        self.ok(f"{ADD} -t file --disk 0:size=128M web1")
        for said, found, told in (
            ("-t sharedfile -e format=qcow2", {"format": "qcow2"}, [" - format -> qcow2"]),
            ("-t sharedfile -e format=raw", None, [" - format -> raw"]),
            ("-t file", None, []),
            ("-t file -e format=qcow2", {"format": "qcow2"}, [" - format -> qcow2"]),
            ("-t sharedfile", None, [" - format -> raw"]),
        ):
            lines = self.ok(f"gnt-instance modify --ignore-ipolicy {said} web1").splitlines()
            self.assertEqual(self.params(), [found], said)
            self.assertEqual([line for line in lines if "format ->" in line], told, said)
        self.fails("gnt-instance modify -t sharedfile -e format=raw web1", "already has disk template sharedfile")
        self.fails("gnt-instance modify -t file -e format=vmdk web1", "format 'vmdk' is not allowed")
        self.fails("gnt-instance modify -t file -e shape=x web1", "it knows format only")

    def test_hypervisors(self) -> None:
        """Those that cannot read images are asked for none; raw disks are every hypervisor's."""
        for word, kind in HYPERVISORS.items():
            for template in TEMPLATES.values():
                check_format("disk/0", template, None, word)
                check_format("disk/0", template, {"format": RAW}, word)
                if "format" in template.fixed and QCOW2 not in kind.formats:
                    error = self.assertRaises(OpPrereqError, check_format, "disk/0", template, {"format": QCOW2}, word)
                    self.assertIn(f"hypervisor {word.value} cannot read disks of format qcow2", str(error))
