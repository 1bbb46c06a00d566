"""The stable names of disks: RUN/instance-disks."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.links import DiskLinks
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles


class LinkTests(SynchronousTestCase):
    """Links by themselves."""

    def setUp(self) -> None:
        self.files, self.paths = MemoryFiles(), Paths(Path("/node"))
        self.links = DiskLinks(self.files, self.paths)

    def names(self) -> list[str]:
        """All links."""
        return self.files.listdir(self.paths.instance_disks_dir)

    def test_link(self) -> None:
        """A link leads to the disk asked for last; removing it twice is no error."""
        for target in ("/srv/a", "/srv/b"):
            link = self.links.link("web1", 0, target)
            self.assertEqual(self.files.readlink(link), target)
        self.assertEqual(self.names(), ["web1:0"])
        for _ in range(2):
            self.links.unlink("web1", 0)
        self.assertEqual(self.names(), [])

    def test_all_of_one(self) -> None:
        """All links of an instance go, and those of no other; without any there is nothing to do."""
        self.links.unlink_all("web1")
        for name, index in (("web1", 0), ("web1", 11), ("web", 0), ("web1:0", 0)):
            self.links.link(name, index, "/srv/a")
        self.links.unlink_all("web1")
        self.assertEqual(self.names(), ["web1:0:0", "web:0"])

    def test_bad_name(self) -> None:
        """A name that would lead out of the directory is refused."""
        self.assertRaises(BlockDeviceError, self.links.link, "../x", 0, "/srv/a")
        self.assertRaises(BlockDeviceError, self.links.link, "web1", -1, "/srv/a")

    def test_broken_disk(self) -> None:
        """What the disk refuses is told with the link's name."""
        self.links.link("web1", 0, "/srv/a")
        self.files.fault = lambda operation, path: OSError(28, "No space left on device")
        for action in (lambda: self.links.link("web1", 0, "/srv/b"), lambda: self.links.unlink("web1", 0)):
            self.assertIn("web1:0", str(self.assertRaises(BlockDeviceError, action)))
