"""OP_QUERY and OP_QUERY_FIELDS: the fields of Ganeti's table, the filter language, who is shown."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import OpPrereqError, QueryFilterParseError
from ganeti_tx.model.opcodes import OpClusterConfigQuery, OpQuery, OpQueryFields
from ganeti_tx.model.opcodes.types import JobQueryKind
from ganeti_tx.rpc.calls.ext_storage import ExtstorageDiagnose, ProviderReport
from ganeti_tx.rpc.calls.os import OsDiagnose, OsReport
from ganeti_tx.test.logic.stage import UnitTestCase
from ganeti_tx.test.query.facts_table import FACTS

NOOP = OsReport("noop", "/srv/os/noop", True, "", ["default"], [("size", "how large")], [20])
OLD = replace(NOOP, name="old", variants=[])
BROKEN = replace(NOOP, name="broken", valid=False, diagnose="no create script")
SHELF = ProviderReport("shelf", "/srv/shelf", True, "", [("colour", "a help")])
NOT_ON_ALL = replace(SHELF, name="box")
NORMAL, UNKNOWN, UNAVAILABLE = 0, 1, 3


class JobQueryCase(UnitTestCase):
    """Two nodes with two good systems and a broken one; a provider that both have, and one that only the first has."""

    def setUp(self) -> None:
        """What nodes answer."""
        super().setUp()
        self.nodes.answer(OsDiagnose, [NOOP, OLD, BROKEN])
        self.nodes.answers[ExtstorageDiagnose] = lambda node, call: (
            [SHELF, NOT_ON_ALL] if node.startswith("node1") else [SHELF]
        )

    def ask(self, what: str, *fields: str, qfilter: Sequence[Any] | None = None) -> Any:
        """The cells."""
        asked = OpQuery(what=JobQueryKind(what), fields=fields, qfilter=None if qfilter is None else tuple(qfilter))
        return self.run_op(asked)["data"]

    def values(self, what: str, *fields: str, qfilter: Sequence[Any] | None = None) -> list[list[object]]:
        """The values, all of them normal."""
        rows = self.ask(what, *fields, qfilter=qfilter)
        self.assertEqual({status for row in rows for status, _ in row} - {NORMAL}, set())
        return [[value for _, value in row] for row in rows]


class FieldsTests(JobQueryCase):
    """Which fields there are."""

    def test_table(self) -> None:
        """All fields of Ganeti's table are there with its titles and kinds, and with a description."""
        for what, facts in FACTS["job_resources"].items():
            told = self.run_op(OpQueryFields(what=JobQueryKind(what)))["fields"]
            found = {field["name"]: [field["title"], field["kind"]] for field in told}
            self.assertEqual({name: found.get(name) for name in facts}, facts)
            self.assertEqual(list(found), sorted(found))
            self.assertTrue(all(field["doc"] and field["doc"][-1] != "." for field in told))
            self.assertEqual(len(self.ask(what, *facts)[0]), len(facts))

    def test_named(self) -> None:
        """Those named come in their order; what no field is called is of an unknown kind, here and in the rows."""
        told = self.run_op(OpQueryFields(what=JobQueryKind.OS, fields=("valid", "colour", "name")))["fields"]
        self.assertEqual([field["kind"] for field in told], ["bool", "unknown", "text"])
        self.assertEqual(self.ask("os", "colour", "name")[0], [[UNKNOWN, None], [NORMAL, "noop"]])


class RowsTests(JobQueryCase):
    """What is answered."""

    def test_shown(self) -> None:
        """What cannot be used, is hidden or blacklisted is there only for who asks, by a field or by the filter."""
        store = self.stage.config.session.store
        cluster = replace(store.snapshot.cluster, hidden_os=("old",))
        self.successResultOf(store.change(lambda data, now: replace(data, cluster=cluster)))
        self.assertEqual(self.values("os", "name"), [["noop"]])
        self.assertEqual(self.values("os", "name", "hidden"), [["noop", False], ["old", True]])
        self.assertEqual(self.values("os", "name", qfilter=["!", ["?", "valid"]]), [["broken"]])
        self.assertEqual(self.values("extstorage", "name"), [["shelf"]])
        self.assertEqual(
            self.values("extstorage", "name", "nodegroup_status"),
            [["box", {"default": False}], ["shelf", {"default": True}]],
        )

    def test_filter(self) -> None:
        """The whole language, over live values, too."""
        self.assertEqual(self.values("os", "name", qfilter=["=~", "name", "^o"]), [["old"]])
        self.assertEqual(self.values("os", "name", qfilter=["=[]", "variants", "default"]), [["noop"]])
        both = ["|", ["==", "name", "noop"], ["==", "name", "old"]]
        self.assertEqual(self.values("os", "name", qfilter=both), [["noop"], ["old"]])
        self.assertEqual(self.values("cluster", "name", qfilter=["!=", "name", "cluster.example.com"]), [])

    def test_refused(self) -> None:
        """A filter that is none, or that asks for fields which there are not, before any node is asked."""
        self.nodes.answers.pop(OsDiagnose)
        bad = OpQuery(what=JobQueryKind.OS, fields=("name",), qfilter=("~~", "name", "x"))
        self.assertIn("unknown filter operator '~~'", self.refused(bad, QueryFilterParseError))
        bad = OpQuery(what=JobQueryKind.OS, fields=("name",), qfilter=("==", "colour", "x"))
        self.assertIn("unknown field 'colour'", self.refused(bad, OpPrereqError))

    def test_cluster(self) -> None:
        """One row; what the master's daemons keep in files is as it is now, and what is not set is not there."""
        fields = ("name", "cluster_name", "master_node", "drain_flag")
        self.stage.drained = True
        expected = ["cluster.example.com", "cluster.example.com", "node1.example.com", True]
        self.assertEqual(self.values("cluster", *fields), [expected])
        self.assertEqual(self.ask("cluster", "watcher_pause"), [[[UNAVAILABLE, None]]])
        self.stage.watcher_pause = 1.5e9
        self.assertEqual(self.ask("cluster", "watcher_pause"), [[[NORMAL, 1.5e9]]])
        self.assertEqual(
            self.run_op(OpClusterConfigQuery(output_fields=("drain_flag", "watcher_pause"))), [True, 1.5e9]
        )
