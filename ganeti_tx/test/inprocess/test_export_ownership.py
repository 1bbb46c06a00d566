"""Whose exports a caller may replace who is kept to some instances."""

from ganeti_tx.errors import decode_error, error_text
from ganeti_tx.model.scope import SCOPES_SOURCE
from ganeti_tx.rpc.calls.backup import ExportInfo
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.network import Says
from ganeti_tx.test.inprocess.test_export import ADD, NAME, ExportCase

DOWN = "--no-start"


class ExportOwnershipTests(ExportCase):
    """Whoever is kept to a node group has made an instance."""

    def export(self, number: int, name: str = NAME) -> str:
        """How an export of theirs ends: with success, or why not."""
        reason = [[SCOPES_SOURCE, "group=default", 1]]
        target = self.cluster.node(number).name
        op = {"OP_ID": "OP_BACKUP_EXPORT", "instance_name": name, "target_node": target, "reason": reason}
        job_id = self.luxi().submit_job([op])
        self.cluster.pass_time(30)
        job = self.job(job_id)
        told = "success" if job.status.value == "success" else error_text(decode_error(job.ops[0].result))
        self.assertNotRegex(told, "group=|tag=|default")
        return told

    def test_of_others(self) -> None:
        """One that another instance of the name has left stays, wherever it lies; administrators replace it."""
        self.made(DOWN)
        self.ok("gnt-backup export -n node1 --remove-instance web1")
        self.made(DOWN)
        former, listed = self.config(1), self.listed()
        for number in (1, 3):
            told = self.export(number)
            self.assertRegex(told, "not known to be of this instance.* whoever has scopes may not replace it; an admin")
            self.assertNotIn("node", told)
        self.assertEqual((self.config(1), self.listed()), (former, listed))
        self.agreed()
        self.ok("gnt-backup export -n node3 web1")
        self.assertEqual(self.listed(), f"node3.example.com|{NAME}\n")

    def test_own(self) -> None:
        """Those of the same instance, whoever has exported it, go as ever."""
        self.made(DOWN)
        self.ok("gnt-backup export -n node1 web1")
        for number in (1, 3, 1):
            self.assertEqual(self.export(number), "success")
            self.assertEqual(self.listed(), f"node{number}.example.com|{NAME}\n")

    def test_unknown(self) -> None:
        """One that does not tell whose it is, as Ganeti's do not, or cannot be read, is nobody's whom it would be given."""
        self.made(DOWN)
        self.ok("gnt-backup export -n node1 web1")
        text = self.config(1)
        [uuid] = self.cluster.config.instances
        for changed in (text.replace(f"uuid = {uuid}\n", ""), "", "garbage"):
            self.assertNotEqual(changed, text)
            put(self.cluster.node(1).disk, self.file(1) / "config.ini", changed.encode())
            self.assertRegex(self.export(1), "not known to be of this instance")
            self.assertEqual(self.config(1), changed)
        put(self.cluster.node(1).disk, self.file(1) / "config.ini", text.encode())
        self.cluster.network.fault = lambda node, call: Says("busy") if isinstance(call, ExportInfo) else None
        self.assertRegex(self.export(1), "not known to be of this instance")
        self.cluster.network.fault = None

    def test_in_the_way(self) -> None:
        """None of theirs comes to lie where those of another instance are put together."""
        name = f"{NAME}.new"
        self.made(f"{DOWN} --no-name-check --no-ip-check", ADD.replace("web1", name))
        self.assertRegex(
            self.export(1, name), "may not export an instance whose name ends with .new, as exports of web1"
        )
        self.assertEqual(self.listed(), "")
