"""SSH on the first node, and on one that leaves."""

from pathlib import Path
from shutil import which

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.bootstrap.init import forget
from ganeti_tx.bootstrap.problems import Problems
from ganeti_tx.bootstrap.settings import InitSettings
from ganeti_tx.bootstrap.ssh import check_ssh, own_root_key
from ganeti_tx.runtime.paths import Paths


class CheckTests(SynchronousTestCase):
    """What `gnt-cluster init` refuses."""

    def refused(self, kind: str, bits: int | None) -> list[str]:
        """What is wrong with keys of a type and length."""
        problems = Problems()
        check_ssh(InitSettings(cluster_name="c", ssh_key_type=kind, ssh_key_bits=bits), problems)
        return problems.found

    def test_lengths(self) -> None:
        """Each type has its own; without one the usual length is taken."""
        for kind, bits in (("rsa", 4096), ("ecdsa", 521), ("dsa", 1024), ("rsa", None), ("ecdsa", None), ("dsa", None)):
            self.assertEqual(self.refused(kind, bits), [])
        self.assertIn("2048 to 16384 for rsa keys, not 512", self.refused("rsa", 512)[0])
        self.assertIn("256, 384, 521 for ecdsa keys, not 2048", self.refused("ecdsa", 2048)[0])
        self.assertIn("not 'ed448'", self.refused("ed448", None)[0])


class RootKeyTests(SynchronousTestCase):
    """With the real ssh-keygen."""

    def setUp(self) -> None:
        if which("ssh-keygen") is None:
            raise SkipTest("ssh-keygen is not installed (Debian: openssh-client)")
        self.paths = Paths(Path(self.mktemp()).absolute())
        self.paths.root.mkdir()
        self.settings = InitSettings(cluster_name="c", ssh_key_type="ecdsa")

    def key(self) -> str:
        """Root's public key."""
        return own_root_key(self.paths, self.settings, "node1")

    def test_made_once(self) -> None:
        """It is made for root only, and then used; without its public file that half is made out of the private one."""
        made = self.key()
        self.assertTrue(made.startswith("ecdsa-sha2-nistp384 "))
        private = self.paths.root_ssh_dir / "id_ecdsa"
        self.assertEqual(
            (private.stat().st_mode & 0o777, self.paths.root_ssh_dir.stat().st_mode & 0o777), (0o600, 0o700)
        )
        self.assertEqual(self.key(), made)
        private.with_name("id_ecdsa.pub").unlink()
        self.assertEqual(self.key(), made)

    def test_forget(self) -> None:
        """A node that leaves keeps its key and other people's, and lets nobody of the cluster in."""
        self.key()
        self.paths.root_authorized_keys.write_text("ssh-rsa AAAA me\nssh-rsa BBBB root@node1 (ganeti_tx)\n")
        self.paths.data_dir.mkdir(parents=True)
        self.paths.known_hosts.write_text("node1 ssh-rsa CCCC\n")
        forget(self.paths)
        self.assertEqual(self.paths.root_authorized_keys.read_text(), "ssh-rsa AAAA me\n")
        self.assertEqual(self.paths.root_authorized_keys.stat().st_mode & 0o777, 0o600)
        self.assertFalse(self.paths.known_hosts.exists())
        self.assertTrue((self.paths.root_ssh_dir / "id_ecdsa").exists())
