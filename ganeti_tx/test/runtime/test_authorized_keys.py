"""Root's authorized keys."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.authorized_keys import merged

OWN = b"ssh-rsa AAAA root@node1 (ganeti_tx)\n"


class MergedTests(SynchronousTestCase):
    """What is the cluster's is replaced, all else stays."""

    def test_others_stay(self) -> None:
        """Lines of other people, comments and empty lines stay as they are, byte by byte."""
        others = b'# mine\n\nfrom="192.0.2.1" ssh-rsa BBBB\r\n\xff\n'
        self.assertEqual(merged(others, {"node1": "ssh-rsa AAAA"}), others + OWN)
        self.assertEqual(merged(others + OWN, {}), others)
        self.assertEqual(merged(others + OWN + b"ssh-rsa CCCC late\n", {}), others + b"ssh-rsa CCCC late\n")

    def test_again(self) -> None:
        """What is there already is not there twice; who is not let in any more is gone."""
        keys = {"node2": "ssh-rsa BBBB", "node1": "ssh-rsa AAAA"}
        twice = merged(merged(b"", keys), keys)
        self.assertEqual(twice, OWN + b"ssh-rsa BBBB root@node2 (ganeti_tx)\n")
        self.assertEqual(merged(twice, {"node1": "ssh-rsa AAAA"}), OWN)

    def test_unfinished_line(self) -> None:
        """A last line without its end does not swallow ours; without ours it stays as it is."""
        self.assertEqual(merged(b"ssh-rsa BBBB", {"node1": "ssh-rsa AAAA"}), b"ssh-rsa BBBB\n" + OWN)
        self.assertEqual(merged(b"ssh-rsa BBBB", {}), b"ssh-rsa BBBB")
