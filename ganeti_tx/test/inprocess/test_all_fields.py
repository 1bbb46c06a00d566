"""Each field of each resource is asked for, in a cluster that has a value for it, and tells one of its kind."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from ganeti_tx.luxid.prompt_rpc import LIMIT
from ganeti_tx.query.language.cell import NORMAL
from ganeti_tx.test.inprocess.network import Late
from ganeti_tx.test.inprocess.populated import NOT_VM_CAPABLE, OFFLINE, SILENT, PopulatedCase
from ganeti_tx.test.query.facts_table import FACTS


def is_number(value: object) -> bool:
    """A whole number; true is none."""
    return isinstance(value, int) and not isinstance(value, bool)


#: What a value of each kind is like.
KINDS: Mapping[str, Callable[[Any], bool]] = {
    "bool": lambda value: isinstance(value, bool),
    "float": lambda value: is_number(value) or isinstance(value, float),
    "number": is_number,
    "other": lambda value: value is not None,
    "text": lambda value: isinstance(value, str),
    "timestamp": lambda value: (is_number(value) or isinstance(value, float)) and value > 1e9,
    "unit": lambda value: is_number(value) and value >= 0,
}
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
#: All fields of the table.
ALL = 441


def kinds_of(what: str) -> dict[str, str]:
    """The kind of each field of a resource, by the table."""
    if what in FACTS["of_jobs"]:
        return {name: kind for name, (_, kind, *_) in FACTS["job_resources"][what].items()}
    return {name: kind for name, (_, kind, *_) in FACTS["resources"][what]["fields"].items()}


class AllFieldsTests(PopulatedCase):
    """The whole table."""

    def ask(self, what: str, fields: list[str]) -> Any:
        """What a client is told."""
        if what not in FACTS["of_jobs"]:
            return self.luxi().query(what, fields, None)
        luxi = self.luxi()
        job_id = luxi.submit_job([{"OP_ID": "OP_QUERY", "what": what, "fields": fields, "reason": []}])
        self.cluster.pass_time(30)
        ((status, (result,)),) = luxi.query_jobs([job_id], ["status", "opresult"])
        self.assertEqual(status, "success", result)
        return result

    def test_each_has_a_value(self) -> None:
        """441 of 441, each as a client reads it, of the kind that its definition says."""
        seen = 0
        for what in (*FACTS["resources"], *FACTS["of_jobs"]):
            kinds = kinds_of(what)
            answer = self.ask(what, list(kinds))
            self.assertEqual([(each["name"], each["kind"]) for each in answer["fields"]], list(kinds.items()))
            for number, (name, kind) in enumerate(kinds.items()):
                values = [row[number][1] for row in answer["data"] if row[number][0] == NORMAL]
                self.assertTrue(values, f"{what} {name} has no value in any row")
                wrong = [value for value in values if not KINDS[kind](value)]
                self.assertEqual(wrong, [], f"{what} {name} is of kind {kind}")
                seen += 1
        self.assertEqual(f"{seen} of {ALL}", "441 of 441")


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
        own = {f"hv/{name}" for name in kvm["hvparams"][1]}
        self.assertEqual({name for name in kvm if name.startswith("hv/") and kvm[name][0] == 0}, own)
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


class CallTests(PopulatedCase):
    """Which nodes are asked, how often, and how long they are waited for."""

    def asked(self, what: str, fields: list[str], condition: list[Any] | None = None) -> dict[str, int]:
        """How many calls each node gets for one query, by its short name; no query waits for a second."""
        self.cluster.pass_time(LIMIT)  # what was asked before has ended
        luxi, begun, sent = self.luxi(), self.cluster.time.seconds(), len(self.cluster.network.sent)
        luxi.query(what, fields, condition)
        self.assertLess(self.cluster.time.seconds() - begun, 1.0)
        calls = [
            each.node.split(".")[0] for each in self.cluster.network.sent[sent:] if each.caller.startswith("luxid")
        ]
        return dict(Counter(calls))

    def test_nothing_live(self) -> None:
        """Nobody is asked for what the configuration holds, by fields or filter."""
        for what in ("instance", "node", "group", "network", "filter"):
            still = [name for name, fact in FACTS["resources"][what]["fields"].items() if not fact[2]]
            self.assertEqual(self.asked(what, still, ["|", *(["?", name] for name in still)]), {}, what)

    def test_all_live(self) -> None:
        """Each node once for all live fields, and again for the consoles of what it runs; never one that is offline."""
        nodes = list(FACTS["resources"]["node"]["fields"])
        self.assertEqual(self.asked("node", nodes), dict.fromkeys(("node1", "node2", "node3", "node6", "node7"), 1))
        instances = list(FACTS["resources"]["instance"]["fields"])
        without = [name for name in instances if name != "console"]
        self.assertEqual(self.asked("instance", without), {"node2": 1, "node3": 1, "node7": 1})
        self.assertEqual(self.asked("instance", instances), {"node2": 2, "node3": 2, "node7": 1})
        self.assertEqual(
            self.asked("export", ["node"]), dict.fromkeys(("node1", "node2", "node3", "node5", "node6", "node7"), 1)
        )

    def test_filter_alone(self) -> None:
        """A field of the filter is asked for as well, of the rows that the rest of the filter leaves."""
        condition = ["&", ["=~", "name", "^node[23]"], [">", "mfree", 1]]
        self.assertEqual(self.asked("node", ["name"], condition), {"node2": 1, "node3": 1})
        self.assertEqual(self.asked("instance", ["name"], ["&", ["==", "pnode", "node4"], ["?", "oper_state"]]), {})

    def test_slow(self) -> None:
        """Of a node that takes its time there is no data; the others' values come as if it were not there."""
        self.cluster.network.fault = lambda node, call: Late(5.0) if node.startswith("node3") else None
        begun = self.cluster.time.seconds()
        rows = self.luxi().query("node", ["name", "mtotal"], ["|", *(["=", "name", f"node{n}"] for n in (1, 2, 3))])[
            "data"
        ]
        self.assertEqual([cell[0] for _, cell in rows], [0, 0, 2])
        self.assertLess(self.cluster.time.seconds() - begun, 1.0)
        self.cluster.network.fault = None
        self.cluster.pass_time(10)
        self.assertEqual(self.luxi().query("node", ["mtotal"], ["=", "name", "node3"])["data"], [[[0, 8192]]])
