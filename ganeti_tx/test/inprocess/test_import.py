"""gnt-backup import in a whole cluster."""

import re

from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.rpc.calls.backup import DumpExportStart, ScriptImportStart
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.instance import InstanceRunRename
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.network import Says
from ganeti_tx.test.inprocess.test_export import ADD, NAME, ExportCase, untimed

WEB2 = "web2.example.com"
IMPORT = "gnt-backup import --ignore-ipolicy -n node3 --src-node=node1 --net 0:mac=generate"


class ImportCase(ExportCase):
    """There is an export of an instance on node1."""

    def exported(self, options: str = "") -> None:
        """With two disks, on which there is something, and the instance is gone."""
        self.made(f"--no-start --tags=b,a -B memory=256,vcpus=2 -O flavour=plum {options}")
        self.former = self.instance()
        self.ok("gnt-backup export -n node1 --remove-instance web1")
        self.assertEqual(self.cluster.disks(), {})

    def instance(self):  # type: ignore[no-untyped-def]
        """The only one."""
        [found] = self.cluster.config.instances.values()
        return found

    def contents(self) -> list[str]:
        """What is on the disks of node3."""
        return [disk.content for _, disk in sorted(self.cluster.node(3).files_storage.disks.items())]


class ImportTests(ImportCase):
    """What comes of it."""

    def test_imported(self) -> None:
        """As it was, but for its nodes and uuids; it is down."""
        self.exported()
        told = untimed(self.ok("gnt-backup import --ignore-ipolicy -n node3 --src-node=node1 web1"))
        self.assertEqual(
            [line for line in told if not re.search("disk/|UUID|Resolved|policy|sync", line)],
            [
                " - WARNING: tags of the export are taken, by which instances may be given to people: 'a, b'; if others are meant"
                " give them: --tags=...",
                "* disk 0, size 128M",
                "* disk 1, size 64M",
                "* creating instance disks...",
                f"adding instance {NAME} to cluster config",
                "adding disks to cluster config",
                "* running the instance OS import scripts...",
            ],
        )
        self.assertIn("Exporting disk/0 from node1.example.com to node3.example.com", told)
        after = self.instance()
        for field in ("name", "os", "hypervisor", "tags", "osparams"):
            self.assertEqual(getattr(after, field), getattr(self.former, field), field)
        self.assertEqual([nic.mac for nic in after.nics], [nic.mac for nic in self.former.nics])
        self.assertEqual((after.beparams["maxmem"], after.beparams["vcpus"]), (256, 2))
        disks = [self.cluster.config.disks[uuid] for uuid in after.disks]
        self.assertEqual([(disk.size, disk.name) for disk in disks], [(128, "root"), (64, None)])
        self.assertEqual({disk.dev_type for disk in disks}, {DiskTemplate.FILE})
        self.assertEqual(self.contents(), ["what was written"] * 2)
        self.assertFalse(any(disk.assembled for disk in self.cluster.node(3).files_storage.disks.values()))
        self.assertEqual((self.cluster.running(), self.listed()), ({}, f"node1.example.com|{NAME}\n"))
        self.agreed()
        self.ok("gnt-instance startup web1")

    def test_formats(self) -> None:
        """A disk is again of the format that it had; where the new disks can have none that is told, and a request says more."""
        add = ADD.replace("0:size=128M", "0:format=qcow2,size=128M")
        self.made("--no-start", add)
        self.ok("gnt-backup export -n node1 --remove-instance web1")
        self.assertIn("disk0_format = qcow2\n", self.config(1))
        line = "gnt-backup import --ignore-ipolicy -n node3 --src-node=node1"
        for options, formats, told in (
            ("", [{"format": "qcow2"}, None], False),
            ("-t sharedfile", [{"format": "qcow2"}, None], False),
            ("--disk 0:size=128M --disk 1:size=64M,format=qcow2", [None, {"format": "qcow2"}], False),
        ):
            self.assertEqual("becomes raw" in self.ok(f"{line} {options} web1"), told, options)
            disks = [self.cluster.config.disks[uuid] for uuid in self.instance().disks]
            self.assertEqual([disk.params for disk in disks], formats, options)
            self.ok("gnt-instance remove -f web1")

    def test_identified(self) -> None:
        """What is as in the cluster is not the instance's own."""
        self.exported()
        self.ok("gnt-backup import --ignore-ipolicy -n node3 --identify-defaults web1")
        self.assertEqual(dict(self.instance().beparams), dict(self.former.beparams))
        self.assertEqual((dict(self.instance().hvparams), dict(self.instance().nics[0].nicparams)), ({}, {}))

    def test_another_name(self) -> None:
        """What is inside is told its new name; the MAC addresses are as they were, unless others are asked for."""
        self.made("--no-start")
        self.ok("gnt-backup export -n node1 web1")
        line = "gnt-backup import --ignore-ipolicy -n node3 --src-node=node1 --src-dir=web1.example.com"
        self.fails(f"{line} web2", "resource_not_unique.*\n.*MAC")
        told = untimed(self.ok(f"{line} --net 0:mac=generate web2"))
        self.assertIn(f"Running rename script for {WEB2}", told)
        [call] = [each.call for each in self.cluster.network.sent if isinstance(each.call, InstanceRunRename)]
        self.assertEqual((call.old_name, call.instance.name), (NAME, WEB2))
        self.agreed()
        self.fails(f"{line} web2", "already_exists.*\n.*already in the cluster")

    def test_same_mac(self) -> None:
        """By the same name a NIC that leaves its address open keeps what it had."""
        self.exported()
        self.ok("gnt-backup import --ignore-ipolicy -n node3 --net 0:mac=auto web1")
        self.assertEqual([nic.mac for nic in self.instance().nics], [nic.mac for nic in self.former.nics])

    def test_no_interfaces(self) -> None:
        """Those of the export are left out if that is asked for, unless others are given."""
        self.exported()
        self.assertTrue(self.former.nics)
        self.ok("gnt-backup import --ignore-ipolicy -n node3 --no-nics web1")
        self.assertEqual(self.instance().nics, ())
        self.ok("gnt-instance remove -f web1")
        self.ok(f"{IMPORT} --no-nics web1")
        self.assertEqual(len(self.instance().nics), 1)

    def test_other_disks(self) -> None:
        """More and larger ones, of another template, are filled as far as there is something for them; fewer are refused."""
        self.exported()
        self.fails(
            f"{IMPORT} --disk 0:size=1G web1", "wrong_input.*\n.*has 2 disks.*to have 1; it needs at least as many"
        )
        self.fails(f"{IMPORT} -t diskless web1", "wrong_input.*\n.*has 2 disks.*to have 0")
        told = self.ok(
            f"{IMPORT} -t sharedfile --disk 0:size=256M --disk 1:size=64M --disk 2:size=96M"
            " -B memory=128 -O flavour=pear --tags=c web1"
        )
        self.assertIn("WARNING: disk/2 of 96 MiB is left empty", told)
        shared = {disk.size: disk.content for disk in self.cluster.shared.files.values()}
        self.assertEqual(shared, {256: "what was written", 64: "what was written", 96: ""})
        after = self.instance()
        self.assertEqual((after.beparams["maxmem"], after.beparams["minmem"]), (128, 128))
        self.assertEqual((after.osparams, after.tags), ({"flavour": "pear"}, ("c",)))
        self.agreed()

    def test_found(self) -> None:
        """Without a node all are asked; a path may be the whole one."""
        self.exported()
        self.fails(
            "gnt-backup import --ignore-ipolicy -n node3 --src-dir=nosuch web1",
            "wrong_input.*\n.*No export found for relative path",
        )
        self.fails(
            "gnt-backup import --ignore-ipolicy -n node3 --src-node=node2 web1",
            "No export or invalid export found in dir",
        )
        self.fails(
            "gnt-backup import --ignore-ipolicy -n node3 --src-dir=/var/lib/ganeti/export/web1 web1",
            "give it with src_node",
        )
        self.fails(
            "gnt-backup import --ignore-ipolicy -n node3 --src-node=node1 --src-dir=/etc/passwd web1",
            "not below .*export",
        )
        self.fails(
            "gnt-backup import --ignore-ipolicy -n node3 --src-node=node1 --src-dir=../x web1",
            "not the path of an export",
        )
        directory = f"{self.cluster.paths.export_dir}/{NAME}"
        self.ok(f"gnt-backup import --ignore-ipolicy -n node3 --src-node=node1 --src-dir={directory} web1")
        self.ok("gnt-instance remove -f web1")
        self.ok("gnt-backup import --ignore-ipolicy -n node2 --src-dir=web1.example.com web1")
        self.agreed()

    def test_refused(self) -> None:
        """What cannot be is told before anything is done."""
        self.exported()
        before = self.cluster.config
        self.fails(f"{IMPORT} --compress=bogus web1", "wrong_input.*\n.*'bogus'; allowed are none")
        for script in ("export", "import"):
            self.cluster.node(3).disk.remove(self.cluster.paths.os_search_path[0] / "noop" / script)
        self.fails(f"{IMPORT} web1", "wrong_input.*\n.*no import script.*cannot be imported")
        text = self.config(1)
        for change, reason in (
            (text.replace("version = 0", "version = 1"), "Wrong export version 1"),
            (text.replace("[instance]", "[other]"), "doesn't have the required fields"),
            (text.replace("hypervisor = fake", "hypervisor = odd"), "hypervisor 'odd'; known are"),
            (
                text.replace("hypervisor = fake", "hypervisor = chroot"),
                "the export has the hypervisor chroot, which does not keep guests apart.*: -H chroot",
            ),
            (text.replace("disk_template = file", "disk_template = tape"), "disk_template 'tape'; known are"),
            (text.replace("disk0_dump = ", "disk0_dump = ../"), "names a dump that cannot be one: '../"),
            (text.replace("disk0_sha256 = ", "disk0_sha256 = x"), "a checksum that cannot be one: 'x"),
            (text.replace("[os]\n", "[os]\nplum tree = 1\n"), "not a name of an OS parameter: 'plum tree'"),
            (text.replace("os = noop", f"os = {'o' * 256}"), "os_type: 256 characters; allowed are 255"),
            ("garbage", "no section headers"),
        ):
            self.assertNotEqual(change, text)
            put(self.cluster.node(1).disk, self.file(1) / "config.ini", change.encode())
            self.fails(f"{IMPORT} web1", reason)
        self.ok("gnt-node modify -O yes node2")
        self.fails("gnt-backup import --ignore-ipolicy -n node3 --src-node=node2 web1", "wrong_state.*\n.*offline node")
        self.assertEqual(self.cluster.config.instances, before.instances)

    def test_damaged(self) -> None:
        """A dump that is not what was exported is not taken, and nothing is left."""
        self.exported()
        put(self.cluster.node(1).disk, self.file(1) / self.former.disks[1], b"what was damaged")
        self.fails(f"{IMPORT} web1", "could not copy disk/1 of instance .*damaged")
        self.assert_nothing_left(self.cluster)
        self.agreed()

    def test_fails(self) -> None:
        """Nothing is left of it, but the export."""
        self.exported()
        for kind in (DumpExportStart, ScriptImportStart):

            def refuse(node: str, call: NodeCall[object], kind: type[NodeCall[object]] = kind) -> Says | None:
                return Says("not today") if isinstance(call, kind) else None

            self.cluster.network.fault = refuse
            self.fails(f"{IMPORT} web1", "not today")
            self.cluster.network.fault = None
            self.assert_nothing_left(self.cluster)
            self.agreed()
        self.ok(f"{IMPORT} web1")

    def test_secrets(self) -> None:
        """Private parameters come back and are shown to nobody; secret ones were never there, and may be given."""
        self.exported("--os-parameters-private=flavour=cherry")
        self.assertIn("[os_private]\nflavour = cherry\n", self.config(1))
        told = self.ok(f"{IMPORT} web1")
        self.assertNotIn("cherry", told)
        self.assertEqual(self.instance().osparams_private, {"flavour": "cherry"})
        for path in self.cluster.master.disk.find(b"cherry"):
            self.assertRegex(path.name, r"^(config\.data|config\.ini|job-\d+)$")
