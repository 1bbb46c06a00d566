"""Instances installed by Debian's ganeti-instance-debootstrap and ganeti-os-noop: made, made anew, renamed, exported, imported."""

import re
import signal
import tempfile
from pathlib import Path

from twisted.python.filepath import FilePath
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.real.bare_root import need_what_it_takes
from ganeti_tx.test.real.debian_systems import fill_cache, offer, text_on, why_not, with_settings
from ganeti_tx.test.real.programs import SmallCluster

UNCHECKED = ("--no-name-check", "--no-ip-check")
#: The least that the definition takes.
DISK = "0:size=512M"
FIRST, SECOND = "web1.dev.example", "web2.dev.example"
NODE = "node1.dev.example"
#: In what is shown of an instance.
IMAGE = re.compile(r"logical_id: .*?(/[^\s,'\])]+)")


class DebianSystemTests(SynchronousTestCase):
    """One node, which has a tarball of a Debian root and no mirror."""

    skip = why_not()

    def setUp(self) -> None:
        need_what_it_takes()
        self.directory = Path(tempfile.mkdtemp(prefix="gtx", dir="/var/tmp"))
        self.addCleanup(FilePath(str(self.directory)).remove)
        fill_cache(self.directory)
        self.cluster = SmallCluster()
        self.addCleanup(self.cluster.close)
        self.cluster.init()
        self.node = self.cluster.node
        offer(self.node)
        self.cluster.end("ganeti-noded", signal.SIGTERM)
        self.run_noded()

    def run_noded(self) -> None:
        """Where the settings are."""
        program = self.cluster.programs.path("ganeti-noded")
        with_settings(self.directory, [str(program)], self.cluster.programs.environment(self.node))

    def instance(self, *words: str) -> str:
        """One command about instances."""
        return self.cluster.must("gnt-instance", *words)

    def image(self, name: str) -> Path:
        """The file of an instance's only disk."""
        (path,) = set(IMAGE.findall(self.instance("info", "--static", name)))
        return Path(path)

    def there_and_back(self, system: str, name: str, new_name: str) -> None:
        """Export an instance, remove it, and import it under another name."""
        self.cluster.must("gnt-backup", "export", "-n", NODE, "--noshutdown", name)
        self.instance("remove", "-f", name)
        words = ("-t", "file", "-n", NODE, f"--src-node={NODE}", f"--src-dir={name}", *UNCHECKED, "--ignore-ipolicy")
        self.cluster.must("gnt-backup", "import", *words, new_name)
        self.assertEqual(self.instance("list", "--no-headers", "-o", "name,os").split(), [new_name, system])
        self.cluster.must("gnt-backup", "remove", name)

    def test_systems(self) -> None:
        """Both do their work; making the cluster takes longer than that."""
        listed = self.cluster.must("gnt-instance", "list")
        self.installs_debian()
        self.does_nothing()
        self.assertEqual(self.cluster.must("gnt-instance", "list"), listed)

    def add(self, system: str, disk: str, name: str) -> None:
        """An instance that is not started."""
        words = ("-t", "file", "--disk", disk, "-o", system, "-n", NODE, "--no-start", "--ignore-ipolicy", *UNCHECKED)
        self.instance("add", *words, name)

    def is_debian(self, name: str, host_name: str) -> None:
        """A root file system without partitions has the system and its name."""
        image = self.image(name)
        self.assertEqual(text_on(image, "/etc/hostname").strip(), host_name)
        self.assertIn(" / ", text_on(image, "/etc/fstab"))
        self.assertIn("Debian", text_on(image, "/usr/lib/os-release"))

    def installs_debian(self) -> None:
        """The disk has a Debian with the instance's name, also after whatever may be done with it."""
        system = "debootstrap+default"
        self.add(system, DISK, FIRST)
        self.is_debian(FIRST, FIRST)
        self.instance("rename", "-f", *UNCHECKED, FIRST, SECOND)
        self.is_debian(SECOND, SECOND)
        self.there_and_back(system, SECOND, FIRST)
        self.is_debian(FIRST, FIRST)
        self.image(FIRST).write_bytes(b"")
        self.image(FIRST).open("r+b").truncate(512 << 20)
        self.instance("reinstall", "-f", FIRST)
        self.is_debian(FIRST, FIRST)
        self.instance("remove", "-f", FIRST)

    def does_nothing(self) -> None:
        """What is on the disk is as it was."""
        self.add("noop", "0:size=1M", FIRST)
        data = b"as it was".ljust(1 << 20, b".")
        self.image(FIRST).write_bytes(data)
        self.instance("reinstall", "-f", FIRST)
        self.instance("rename", "-f", *UNCHECKED, FIRST, SECOND)
        self.assertEqual(self.image(SECOND).read_bytes(), data)
        self.there_and_back("noop", SECOND, FIRST)
        self.instance("startup", FIRST)
        self.instance("remove", "-f", FIRST)
