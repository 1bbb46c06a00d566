"""The file that describes an exported instance, against what Ganeti writes."""

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ParameterError
from ganeti_tx.model.export_file import Dump, ExportedDisk, read_export, written
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec

NIC = NicSpec(uuid="nic", mac="aa:00:5e:00:00:01", mode="bridged", link="br-lab", vlan="", ip="192.0.2.20")
DISKS = [
    DiskSpec(uuid="disk0", dev_type="plain", size=1024, logical_id=["vg", "lv"], name="root"),
    DiskSpec(uuid="disk1", dev_type="plain", size=64, logical_id=["vg", "lv1"]),
]
INSTANCE = InstanceSpec(
    name="ivy.lab.example",
    uuid="uuid",
    primary_node="node-uuid",
    hypervisor="kvm",
    os="cedar+small",
    hvparams={"acpi": True, "kernel_path": None, "migration_port": 8102},
    beparams={
        "minmem": 256, "maxmem": 512, "vcpus": 2, "auto_balance": True, "always_failover": False, "spindle_use": 1
    },
    osparams={"lang": "C", "rate": "100% [a];b"},
    osparams_private={"token": "abc"},
    osparams_secret={"password": "hush"},
    nics=[NIC],
    disks=DISKS,
    tags=["site:lab", "green"],
    disk_template="plain",
)  # fmt: skip
WANTED = """\
[export]
version = 0
timestamp = 1700000123
source = node-uuid
os = cedar+small
compression = none

[instance]
name = ivy.lab.example
uuid = uuid
maxmem = 512
minmem = 256
memory = 512
vcpus = 2
disk_template = plain
hypervisor = kvm
tags = green site:lab
nic0_mac = aa:00:5e:00:00:01
nic0_ip = 192.0.2.20
nic0_network = None
nic0_name = None
nic0_link = br-lab
nic0_mode = bridged
nic0_vlan =\x20
nic_count = 1
disk0_ivname = disk/0
disk0_dump = dump0
disk0_size = 1024
disk0_name = root
disk1_ivname = disk/1
disk1_dump = dump1
disk1_size = 64
disk1_name = None
disk1_sha256 = 0123
disk_count = 2

[hypervisor]
acpi = True
kernel_path = None

[backend]
always_failover = False
auto_balance = True
maxmem = 512
minmem = 256
spindle_use = 1
vcpus = 2

[os]
lang = C
rate = 100% [a];b

[os_private]
token = abc

"""
DUMPS = [Dump(0, "dump0"), Dump(1, "dump1", "0123")]


class WrittenTests(SynchronousTestCase):
    """What an export says."""

    def test_text(self) -> None:
        """As Ganeti writes it, with the uuid and the checksums besides; what is secret is not there."""
        self.assertEqual(written(INSTANCE, DUMPS, 1700000123.9), WANTED)

    def test_format(self) -> None:
        """How a disk lay in its file is said of those alone that no others have; they come back so."""
        image = DiskSpec(uuid="d", dev_type="file", size=64, logical_id=["loop", "/f"], params={"format": "qcow2"})
        text = written(replace(INSTANCE, disks=[DISKS[0], image]), DUMPS, 0)
        self.assertEqual(text.count("_format"), 1)
        self.assertIn("disk1_sha256 = 0123\ndisk1_format = qcow2\n", text)
        self.assertEqual([disk.format for disk in read_export(text).disks], ["raw", "qcow2"])

    def test_some_disks(self) -> None:
        """A disk that was left out leaves no gap."""
        text = written(INSTANCE, DUMPS[1:], 0)
        self.assertIn("disk0_ivname = disk/1\ndisk0_dump = dump1\n", text)
        self.assertIn("disk_count = 1\n", text)


class ReadTests(SynchronousTestCase):
    """What an import takes."""

    def test_round_trip(self) -> None:
        """All that counts comes back; what stands for nothing is left out."""
        found = read_export(WANTED)
        self.assertEqual((found.name, found.os, found.hypervisor, found.disk_template), ("ivy.lab.example",
            "cedar+small", "kvm", "plain"))  # fmt: skip
        self.assertEqual(found.uuid, "uuid")
        self.assertIsNone(read_export(WANTED.replace("uuid = uuid\n", "")).uuid)
        self.assertEqual(found.tags, ["green", "site:lab"])
        self.assertEqual(found.disks, [ExportedDisk(1024, "root", "dump0"), ExportedDisk(64, None, "dump1", "0123")])
        nic = {"mac": "aa:00:5e:00:00:01", "ip": "192.0.2.20", "link": "br-lab", "mode": "bridged"}
        self.assertEqual(found.nics, [nic])
        self.assertEqual(found.hvparams, {"acpi": "True"})
        self.assertEqual(found.beparams["maxmem"], "512")
        self.assertEqual(found.osparams, {"lang": "C", "rate": "100% [a];b"})
        self.assertEqual(found.osparams_private, {"token": "abc"})

    def test_lines(self) -> None:
        """A value of several lines stays one."""
        told = replace(INSTANCE, osparams={"script": "one\ntwo = 2\n[three]"})
        self.assertEqual(read_export(written(told, (), 0)).osparams, told.osparams)

    def test_exactly(self) -> None:
        """OS parameters come back as they were, whatever is in them; who changes them in the file is heard."""
        hard = {
            "user_data": "#cloud-config\nwrite_files:\n  - path: /x\n# no comment\n\n  end\n",
            "blanks": " x ",
            "word": "None",
            "key": "-----BEGIN-----\nabc=\n-----END-----\n",
        }
        names = dict.fromkeys(("[instance]", "a:b", "#odd", ";odd", "rem"), "1")
        for told in (hard, names, {**hard, **names}):
            text = written(replace(INSTANCE, osparams=told, osparams_private=told), (), 0)
            found = read_export(text)
            self.assertEqual((found.osparams, found.osparams_private), (told, told))
            self.assertEqual(found.name, INSTANCE.name)
        changed = read_export(text.replace("\nblanks = ", "\nblanks = y")).osparams
        self.assertEqual((changed["blanks"], changed["word"]), ("y x", "None"))
        self.assertNotIn("word", read_export(text.replace("\nword = None", "")).osparams)
        for damaged in ("{", "[]", '{"a": 1}', "[" * 10_000):
            error = self.assertRaises(ParameterError, read_export, f"{WANTED}[exact]\nos = {damaged}\n")
            self.assertEqual(str(error), "os in section exact is damaged")

    def test_tags_with_blanks(self) -> None:
        """Such a tag stays one; who changes the tags in the file is heard."""
        text = written(replace(INSTANCE, tags=["two words", "green"]), (), 0)
        self.assertEqual(read_export(text).tags, ["green", "two words"])
        self.assertEqual(read_export(text.replace("tags = green ", "tags = ")).tags, ["two", "words"])
        self.assertNotIn("[exact]", WANTED)
        error = self.assertRaises(ParameterError, read_export, f"{WANTED}[exact]\ntags = {{}}\n")
        self.assertEqual(str(error), "tags in section exact is damaged")

    def test_old(self) -> None:
        """Parameters stood with the instance once; a disk without a dump is left empty."""
        found = read_export(
            "[export]\nversion=0\nos=noop\n[instance]\nname=web1\nvcpus=3\nauto_balance=False\n"
            "disk0_size=10\ndisk0_dump=False\ndisk3_size=20\ndisk3_dump=x\nnic1_mac=aa:00:00:00:00:01\n"
        )
        self.assertEqual(found.beparams, {"vcpus": "3", "auto_balance": "False"})
        self.assertEqual(found.disks, [ExportedDisk(10), ExportedDisk(20, dump="x")])
        self.assertEqual(found.nics, [{"mac": "aa:00:00:00:00:01"}])

    def test_blanks(self) -> None:
        """A line as long as a file may be is read at once, whatever is in it: it comes from elsewhere, and a daemon reads it."""
        long = " " * (4 << 20)
        error = self.assertRaises(ParameterError, read_export, f"[export]\nversion{long}0\n")
        self.assertIn("parsing errors", str(error))
        self.assertEqual(read_export(WANTED.replace("version = 0", f"version{long}={long}0")), read_export(WANTED))
        self.assertEqual(read_export(WANTED.replace("lang = C", "lang: C = D")).osparams["lang"], "C = D")

    def test_refused(self) -> None:
        """What is no export is told in one line."""
        for text, reason in (
            ("garbage\n", "no section headers"),
            ("", "required fields"),
            ("[export]\nversion = 0\nos = x\n", "required fields"),
            (WANTED.replace("version = 0", "version = 7"), "Wrong export version 7 .wanted 0"),
            (WANTED.replace("os = cedar+small\n", ""), "os is missing"),
            (WANTED.replace("disk0_size = 1024", "disk0_size = many"), "disk0_size: not a size in MiB: 'many'"),
            (WANTED + "[os]\nlang = D\n", "already exists"),
            (WANTED.replace("token = abc", "token abc"), "parsing errors: .*, line 54$"),
            ("a" * 100_000, "no section headers"),
            (WANTED.replace("version = 0", "version = " + "7" * 100_000), "Wrong export version 7+ "),
            (WANTED + "[" + "a" * 100_000 + "]\nb=1\nb=2\n", "While reading"),
        ):
            error = self.assertRaises(ParameterError, read_export, text)
            self.assertRegex(str(error), reason)
            self.assertNotIn("\n", str(error))
            self.assertNotIn("abc", str(error), "it may be private")
            self.assertLess(len(str(error)), 300)
