"""The statuses of cells, field by field, where a value is not there."""

from collections.abc import Mapping
from typing import Any

from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.test.inprocess.populated import NOT_VM_CAPABLE, OFFLINE, SILENT, PopulatedCase
from ganeti_tx.test.query.facts_table import FACTS

#: Statuses of cells; what an instance that does not run has not.
UNAVAILABLE = 3
STOPPED = ("oper_ram", "oper_vcpus", "console")
#: What is not yet known of a job, by its status.
MISSING_OF_JOBS = {
    "queued": {"start_ts", "end_ts"},
    "waiting": {"end_ts"},
    "running": {"end_ts"},
    "canceled": {"start_ts"},
}


class StatusTests(PopulatedCase):
    """What is not normal, field by field."""

    def cells(self, what: str, name: str | int) -> dict[str, Any]:
        """All cells of one row by field."""
        resource = FACTS["resources"][what]["fields"]
        key = "id" if what == "job" else "name"
        (row,) = self.luxi().query(what, list(resource), ["==", key, name])["data"]
        return {field: tuple(cell) for field, cell in zip(resource, row, strict=True)}

    def live(self, what: str) -> set[str]:
        """The fields for which nodes are asked, but the one that says all in words."""
        return {name for name, fact in FACTS["resources"][what]["fields"].items() if fact[2]} - {"status"}

    def assert_live(self, what: str, name: str, status: int) -> dict[str, Any]:
        """All live cells of a row have this status, and no other cell has it if it is about the node; the row's cells."""
        cells = self.cells(what, name)
        self.assertEqual(
            {field: cells[field] for field in self.live(what)}, dict.fromkeys(self.live(what), (status, None))
        )
        if status != UNAVAILABLE:
            self.assertEqual({field for field, (found, _) in cells.items() if found == status}, self.live(what))
        return cells

    def test_nodes(self) -> None:
        """Offline, without an answer, not for instances: all that its node daemon would tell says so."""
        for number, status in ((OFFLINE, 4), (SILENT, 2), (NOT_VM_CAPABLE, UNAVAILABLE)):
            self.assert_live("node", f"node{number}", status)
        well, powered = self.cells("node", "node1"), self.cells("node", "node2")
        self.assertEqual(empty(well), {"powered", "hv_state", "disk_state"})
        self.assertEqual(empty(powered), set())

    def test_instances(self) -> None:
        """On an offline node, on a silent one, stopped, only reserved, running."""
        self.assertEqual(self.assert_live("instance", "lost", 4)["status"], (0, "ERROR_nodeoffline"))
        self.assertEqual(self.assert_live("instance", "unheard", 2)["status"], (0, "ERROR_nodedown"))
        for name, status in (
            ("web2", "ADMIN_down"),
            ("web4", "ADMIN_down"),
            ("full", "USER_down"),
            ("crashed", "ERROR_down"),
        ):
            cells = self.cells("instance", name)
            self.assertEqual((cells["oper_state"], cells["status"]), ((0, False), (0, status)))
            self.assertEqual({field: cells[field][0] for field in STOPPED}, dict.fromkeys(STOPPED, UNAVAILABLE))
        runs = self.cells("instance", "web1")
        self.assertEqual((runs["status"], runs["oper_state"], runs["oper_ram"]), ((0, "running"), (0, True), (0, 128)))

    def test_of_other_hypervisors(self) -> None:
        """A parameter that its hypervisor does not have is not available; all that it has are."""
        kvm = self.cells("instance", "kvm")
        own = {f"hv/{name}" for name in {**kvm["hvparams"][1], **HYPERVISORS[Hypervisor.KVM].unset}}
        self.assertEqual({name for name in kvm if name.startswith("hv/") and kvm[name][0] == 0}, own & kvm.keys())
        self.assertIn("hv/init_script", empty(kvm))

    def test_jobs(self) -> None:
        """A job in each state that lasts; what has not happened yet is not available, and so is all but the id of none."""
        for status, job_id in self.jobs.items():
            cells = self.cells("job", job_id)
            self.assertEqual(cells["status"], (0, "success" if status == "archived" else status))
            self.assertEqual(cells["archived"], (0, status == "archived"))
            self.assertEqual(empty(cells), MISSING_OF_JOBS.get(status, set()), status)
        self.assertEqual(empty(self.cells("job", 999)), set(FACTS["resources"]["job"]["fields"]) - {"id"})

    def test_unknown(self) -> None:
        """A field that there is not is unknown in each row."""
        answer = self.luxi().query("node", ["name", "colour"], None)
        self.assertEqual(answer["fields"][1]["kind"], "unknown")
        self.assertEqual({tuple(row[1]) for row in answer["data"]}, {(1, None)})

    def test_exports(self) -> None:
        """An export, a node that is offline, and one that does not answer."""
        rows = self.luxi().query("export", ["node", "export"], None)["data"]
        told = [(node.split(".")[0], *export) for (_, node), export in rows]
        self.assertEqual(told, [("node2", 0, "web2.example.com"), ("node4", 4, None), ("node7", 2, None)])


def empty(cells: Mapping[str, Any]) -> set[str]:
    """The fields that are not available."""
    return {field for field, (status, _) in cells.items() if status == UNAVAILABLE}
