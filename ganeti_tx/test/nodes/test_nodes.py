"""The nodes on which other tests stand are what they should be."""

from ganeti_tx.test.nodes.case import NodesCase

SYS_TIME = 1 << 25


class NodesTests(NodesCase):
    """Three nodes, freshly booted."""

    def test_nodes(self) -> None:
        """They have systemd, the program, each other, a disk that outlives a power cut; not the machine's clock."""
        for node in self.nodes.numbers:
            self.assertEqual(self.nodes.failed_units(node), [])
            self.assertEqual(self.run_on(node, "hostname; cat /proc/1/comm"), f"node{node}.example.com\nsystemd\n")
            self.assertEqual(self.run_on(node, f"ssh -oBatchMode=yes node{4 - node}.example.com echo in"), "in\n")
            capabilities = self.run_on(node, "cat /proc/1/status /proc/self/status | grep -E 'Cap(Eff|Bnd|Inh)'")
            self.assertEqual([line for line in capabilities.splitlines() if int(line.split()[1], 16) & SYS_TIME], [])
        self.assertIn("ganeti_tx", self.run_on(1, "gnt-cluster --version"))
        self.assertIn("enabled", self.run_on(2, "systemctl is-enabled ganeti-noded"))
        first_boot = self.run_on(3, "date > /var/lib/kept; sync; cat /proc/sys/kernel/random/boot_id")
        self.nodes.power_off(3)
        self.assertFalse(self.nodes.is_on(3))
        self.run_on(1, "ping -c 1 -W 1 node3.example.com", 1)
        self.nodes.power_on(3)
        self.run_on(1, "ping -c 1 -W 5 node3.example.com")
        self.assertNotEqual(self.run_on(3, "test -e /var/lib/kept; cat /proc/sys/kernel/random/boot_id"), first_boot)
