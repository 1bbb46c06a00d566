"""Where a devcluster's nodes are."""

import json
import tempfile
from ipaddress import IPv6Network, ip_address
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.devcluster.layout import STATE_FILE, load, plan
from ganeti_tx.devcluster.up import init_options


class LayoutTests(SynchronousTestCase):
    """In a directory of its own."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="gtx")
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)

    def test_version_4(self) -> None:
        """Each node has an address of the loopback network, and no other."""
        layout = plan(self.root, 2)
        self.assertTrue(all(ip_address(node.address).is_loopback for node in layout.nodes))
        self.assertEqual([node.secondary_options for node in layout.nodes], [[], []])
        self.assertIn("--primary-ip-version=4", init_options(layout, []))

    def test_version_6(self) -> None:
        """Each has an address of a private network that the directory names, and an IPv4 one; the cluster has one of IPv6."""
        layout, again, other = plan(self.root, 12, 6), plan(self.root, 12, 6), plan(self.root / "other", 12, 6)
        self.assertEqual((layout, layout.nodes[0].address == other.nodes[0].address), (again, False))
        addresses = [layout.master_address, *(node.address for node in layout.nodes)]
        self.assertEqual(len(set(addresses)), 13)
        for address in addresses:
            self.assertEqual(str(ip_address(address)), address)
            self.assertIn(ip_address(address), IPv6Network("fd00::/8"))
        first, options = layout.nodes[0], init_options(layout, [])
        self.assertEqual(first.secondary_options, [f"--secondary-ip={first.secondary}"])
        self.assertLessEqual({"--primary-ip-version=6", *first.secondary_options}, set(options))
        self.assertTrue(ip_address(first.secondary or "").is_loopback)

    def test_state(self) -> None:
        """What is written is read again; a file from before there was IPv6 is, too."""
        for version in (4, 6):
            layout = plan(self.root, 2, version)
            layout.save()
            self.assertEqual(load(self.root), layout)
        old = plan(self.root, 2)
        nodes = [[node.name, node.address] for node in old.nodes]
        text = {"cluster_name": old.cluster_name, "master_address": old.master_address, "nodes": nodes}
        (self.root / STATE_FILE).write_text(json.dumps(text))
        self.assertEqual(load(self.root), old)
