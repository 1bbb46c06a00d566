"""Exports as commands list them."""

from ganeti_tx.rpc.calls.backup import ExportRemove
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.network import Says


class RemoveTests(ClusterCase):
    """gnt-backup remove."""

    def exported(self, number: int, name: str) -> None:
        """There is an export."""
        put(self.cluster.node(number).disk, self.cluster.paths.export_dir / name / "config.ini", b"[export]\n")

    def listed(self) -> str:
        """What is there."""
        return self.ok("gnt-backup list --no-headers --separator=|")

    def test_removed(self) -> None:
        """Wherever it is, whether its instance is there or not; others stay."""
        for number, name in ((1, "gone.example.com"), (3, "gone.example.com"), (2, "web2.example.com")):
            self.exported(number, name)
        self.assertEqual(self.ok("gnt-backup remove gone.example.com"), "")
        self.assertEqual(self.listed(), "node2.example.com|web2.example.com\n")
        self.ok("gnt-instance add -t diskless -o noop --no-install -n node1 web2")
        self.ok("gnt-backup remove web2")
        self.assertEqual(self.listed(), "")
        self.assertEqual(self.ok("gnt-backup remove web2"), "")

    def test_not_found(self) -> None:
        """That there is none is told, and so is a node that does not answer; a name that is none is refused."""
        self.assertIn("Export not found. If trying to remove an export", self.ok("gnt-backup remove web9"))
        self.exported(3, "web9.example.com")
        self.cluster.node(3).stop()
        self.assertRegex(
            self.ok("gnt-backup remove web9.example.com"), "WARNING: Failed to query node node3.example.com .continuing"
        )
        self.cluster.node(3).start()
        self.assertIn("web9", self.listed())
        self.fails("gnt-backup remove ../x", "wrong_input.*\n.*not a host name")

    def test_fails(self) -> None:
        """What is still there is no success."""
        self.exported(2, "web9.example.com")
        self.cluster.network.fault = lambda node, call: Says("no") if isinstance(call, ExportRemove) else None
        self.fails("gnt-backup remove web9.example.com", "could not remove the export of web9.*node2.*no")
        self.cluster.network.fault = None
        self.ok("gnt-backup remove web9.example.com")
        self.assertEqual(self.listed(), "")


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
