"""Whose directories a devcluster is taken from: our own, which nobody else can write in or put another in place of."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.devcluster.error import DevclusterError
from ganeti_tx.devcluster.layout import DEFAULT_ROOT, load, plan
from ganeti_tx.devcluster.trust import check_trusted, check_way, own_directory, passed_on_the_way
from ganeti_tx.devcluster.up import prepare, up
from ganeti_tx.runtime.paths import Paths

#: Nobody's.
OTHER_USER = 54321


def keep_umask(test: SynchronousTestCase, mask: int) -> None:
    """Set the process's mask until the test ends."""
    test.addCleanup(os.umask, os.umask(mask))


class TrustTests(SynchronousTestCase):
    """A directory in one like /tmp."""

    def setUp(self) -> None:
        """A devcluster that was laid out."""
        keep_umask(self, 0o022)
        directory = tempfile.TemporaryDirectory(prefix="gtx", dir="/tmp")
        self.addCleanup(directory.cleanup)
        self.top = Path(directory.name).resolve()
        self.root = self.top / "c"
        self.layout = plan(self.root, 2)
        prepare(self.layout)

    def refused(self, *words: str, by: Callable[[Path], object] = check_trusted) -> None:
        """It is, and all of these are said."""
        said = str(self.assertRaises(DevclusterError, by, self.root))
        for word in (str(self.root), *words):
            self.assertIn(word, said)

    def give_away(self, path: Path) -> None:
        """Make it somebody else's."""
        if os.geteuid() != 0:
            raise SkipTest("only root can give files away")
        os.chown(path, OTHER_USER, OTHER_USER, follow_symlinks=False)

    def test_own(self) -> None:
        """What we made is taken, from a directory like /tmp too."""
        self.top.chmod(0o1777)
        check_trusted(self.root)
        self.assertEqual(load(self.root), self.layout)

    def test_other_owner(self) -> None:
        """Another user's directory is not, whatever is in it, nor may a new cluster be made there."""
        self.give_away(self.root)
        self.refused(f"it belongs to user {OTHER_USER}", "not to you, root (user 0)", "--root")
        self.refused(f"user {OTHER_USER}", by=load)
        self.refused(f"user {OTHER_USER}", by=lambda root: up(root, 1, []))

    def test_new_in_directory_of_another(self) -> None:
        """No directory is made in another user's, who could put another in its place."""
        self.give_away(self.top)
        self.root = self.top / "new"
        self.refused(f"{self.top} belongs to user {OTHER_USER}", by=lambda root: up(root, 1, []))
        self.assertFalse(self.root.exists())

    def test_other_owner_of_content(self) -> None:
        """Nor is one that was taken over with what its former owner had put in it."""
        for name in ("devcluster.json", "node2", "node1/srv/ganeti/os/busybox", "node1/etc/hosts", "shared"):
            with self.subTest(name):
                self.give_away(self.root / name)
                self.refused(f"{name} belongs to user {OTHER_USER}")
                os.chown(self.root / name, 0, 0, follow_symlinks=False)
                check_trusted(self.root)

    def test_data(self) -> None:
        """Whose disks, logs and jobs these are does not matter: nothing of it is run."""
        for name in ("node1/srv/ganeti/file-storage/web1", "node1/var/log/ganeti", "shared/file"):
            (self.root / name).mkdir(parents=True)
            (self.root / name).chmod(0o777)
        check_trusted(self.root)

    def test_firmware(self) -> None:
        """What a TPM keeps is its user's, be that QEMU's or one for TPMs; the place for it is ours."""
        place = Paths(self.layout.master.root).kvm_firmware_dir
        (state := place / "uuid1" / "tpm").mkdir(parents=True)
        self.give_away(state)
        check_trusted(self.root)
        self.assertEqual(load(self.root), self.layout)
        self.give_away(place)
        self.refused(f"kvm-firmware belongs to user {OTHER_USER}")

    def test_modes(self) -> None:
        """What a group or all may write is not taken, with a sticky bit neither."""
        for name in ("", "node1", "node1/etc/ganeti", "devcluster.json"):
            for mode in (0o775, 0o777, 0o1777):
                with self.subTest(name, mode=mode):
                    (self.root / name).chmod(mode)
                    self.refused("can be written by others", f"{mode:04o}")
                    (self.root / name).chmod(0o755)
                    check_trusted(self.root)

    def test_above(self) -> None:
        """Where all may write without a sticky bit, another directory could be put in its place."""
        self.top.chmod(0o777)
        self.refused(f"{self.top} can be written by others", by=check_way)
        self.root = self.root / "not/there"
        self.refused(f"{self.top} can be written by others", by=check_way)

    def test_link_of_another(self) -> None:
        """A link may be another's, or lead through a directory of another."""
        inner = self.top / "inner"
        inner.mkdir()
        link = inner / "link"
        link.symlink_to("../c")
        self.root = link
        check_trusted(self.root)
        self.give_away(link)
        self.refused(f"it belongs to user {OTHER_USER}", by=check_way)
        os.chown(link, 0, 0, follow_symlinks=False)
        self.give_away(inner)
        self.refused(f"{inner} belongs to user {OTHER_USER}", by=check_way)
        self.root = self.top / "to-link"
        self.root.symlink_to(link)
        self.refused(f"{inner} belongs to user {OTHER_USER}", by=check_way)

    def test_links_in_circles(self) -> None:
        """They end, in an error."""
        (self.top / "a").symlink_to("b")
        (self.top / "b").symlink_to("a")
        self.root = self.top / "a"
        self.refused("too many symbolic links", by=check_way)

    def test_way(self) -> None:
        """Everything that is passed, links as themselves and then where they lead."""
        (self.top / "link").symlink_to("c/node1")
        passed = list(passed_on_the_way(self.top / "link" / ".." / "node2"))
        below = [str(path.relative_to(self.top)) for path in passed if path.is_relative_to(self.top)]
        self.assertEqual(below, [".", "link", "c", "c/node1", "c", "c/node2"])
        self.assertEqual(passed[0], Path("/"))

    def test_careless_user(self) -> None:
        """What is made by somebody whose files all may write is our own, nevertheless."""
        keep_umask(self, 0)
        root = self.top / "d"
        prepare(plan(root, 1))
        check_trusted(root)

    def test_default(self) -> None:
        """Nobody else can make the default first: it is in our home."""
        self.assertEqual(DEFAULT_ROOT.parent, own_directory())
