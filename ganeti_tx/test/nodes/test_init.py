"""What `gnt-cluster init` refuses on real nodes, and what it finds out by itself."""

from typing import ClassVar

from ganeti_tx.test.nodes.case import NodesCase

INIT = "gnt-cluster init --enabled-hypervisors=fake --enabled-disk-templates=diskless,file"


class InitTests(NodesCase):
    """Two nodes."""

    count: ClassVar[int] = 2

    def refused(self, command: str) -> str:
        """What is said of it; nothing is left behind."""
        said = self.run_on(1, f"{command} 2>&1", 1)
        self.run_on(1, "test ! -e /var/lib/ganeti/config.data -a ! -e /var/lib/ganeti/server.pem")
        return said

    def test_init(self) -> None:
        """An address in use, a loopback address and a storage directory that is not allowed are refused; the interface
        is found.
        """
        self.run_on(1, "mkdir -p /etc/ganeti; echo /srv/ganeti/file-storage > /etc/ganeti/file-storage-paths")
        self.assertIn("active already", self.refused(f"{INIT} node2.example.com"))
        said = self.refused(f"{INIT} --file-storage-dir=/tmp/other --ipolicy-std-specs=cpu-count=9 cluster.example.com")
        self.assertIn("/tmp/other", said)
        self.assertIn("ipolicy.std.cpu-count", said)
        self.run_on(
            1,
            "cp /etc/hosts /etc/hosts.right; sed -i 's/^.* node1.example.com/127.0.1.1 node1.example.com/' /etc/hosts",
        )
        self.assertIn("127.0.1.1", self.refused(f"{INIT} cluster.example.com"))
        self.run_on(1, "cp /etc/hosts.right /etc/hosts")
        self.assertIn("goes on eth0", self.run_on(1, f"{INIT} cluster.example.com"))
        self.assertIn("eth0", self.run_on(1, "gnt-cluster info | grep netdev"))
        self.assertEqual(self.nodes.failed_units(1), [])
        add = "gnt-instance add -t diskless --no-install --no-start -n node1.example.com node2.example.com"
        self.assertIn("already in use", self.run_on(1, f"{add} 2>&1", 1))
