"""Exports as commands list them."""

from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put


class ExportListTests(ClusterCase):
    """Two nodes with exports."""

    def test_listed(self) -> None:
        """All, or those of some nodes; a node that is not there is refused."""
        for number, name in ((1, "web1"), (2, "web2"), (2, "web3")):
            directory = self.cluster.paths.export_dir / f"{name}.example.com"
            put(self.cluster.node(number).disk, directory / "config.ini", b"[export]\n")
        said = self.ok("gnt-backup list --no-headers --separator=|")
        rows = ["node1.example.com|web1.example.com", "node2.example.com|web2.example.com"]
        self.assertEqual(said.splitlines()[:3], [*rows, "node2.example.com|web3.example.com"])
        self.assertEqual(self.ok("gnt-backup list --no-headers --separator=| -n node1"), f"{rows[0]}\n")
        self.fails("gnt-backup list -n nosuch", "nosuch")
        self.assertEqual(self.ok("gnt-backup list -o export -n node1"), "Export\nweb1.example.com\n")
        self.assertEqual(self.ok("gnt-backup list-fields").split()[:4], ["Name", "Type", "Title", "Description"])
        self.fails("gnt-backup list -o nosuch", "Queried for unknown fields nosuch")
