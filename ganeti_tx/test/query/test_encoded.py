"""Rows that are JSON already: the same as others, and never older."""

import json
from collections.abc import Sequence
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.query.encoded import MOST, AllRows, column
from ganeti_tx.query.language.cell import Cell
from ganeti_tx.query.language.field import Kind, Need, computed
from ganeti_tx.rpc.calls.instance import AllInstancesInfo, RunningInstance
from ganeti_tx.test.query.case import QueryCase

WEB1 = "web1.example.com"
RUNS = RunningInstance(memory=512, vcpus=2, state=0, time=1.5)
CONFIGURED = ("instance", "node", "group", "network", "filter")


class EncodedTests(QueryCase):
    """Each is asked for twice, as what is kept shows the second time."""

    def encoded(self, what: str, items: Sequence[str], fields: Sequence[str]) -> Any:
        """The rows of a classic query, from JSON."""
        once, again = (self.successResultOf(self.queries.classic_json(what, items, fields)) for _ in range(2))
        self.assertEqual(bytes(once), bytes(again))
        self.assertTrue(bytes(once).isascii())
        return json.loads(bytes(once))

    def as_others(self, what: str, items: Sequence[str], fields: Sequence[str]) -> Any:
        """The same rows, encoded now."""
        return json.loads(json.dumps(self.classic(what, items, fields)))

    def test_every_field(self) -> None:
        """All fields of all items have the values that the plain rows have, in any order and number."""
        self.rpc.answer(AllInstancesInfo, {WEB1: RUNS})
        for what in CONFIGURED:
            names = [name for name in self.queries.resources[what].fields if name != "console"]
            for fields in (names, names[::-1], names[::2] + names[:3], [], names[:1]):
                self.assertEqual(self.encoded(what, [], fields), self.as_others(what, [], fields))

    def test_some(self) -> None:
        """Some items are some, whatever was kept of all."""
        self.encoded("node", [], ["name"])
        self.assertEqual(self.encoded("node", ["node2", "nobody"], ["name"]), [["node2.example.com"]])
        self.assertEqual(self.encoded("node", ["nobody"], ["name"]), [])

    def test_configuration_changes(self) -> None:
        """What is kept is of the configuration that is, not of one that was."""
        fields = ["name", "tags", "oper_state"]
        self.encoded("instance", [], fields)
        self.change_instance(tags=("new", "ü"))
        self.assertEqual(self.encoded("instance", [], fields)[0][1], ["new", "ü"])
        self.add_instance("web2.example.com")
        self.assertEqual(self.encoded("instance", [], fields), self.as_others("instance", [], fields))

    def test_nodes_tell(self) -> None:
        """What nodes tell is never kept."""
        fields = ["name", "oper_ram", "os", "status"]
        self.rpc.answer(AllInstancesInfo, {WEB1: RUNS})
        self.assertEqual(self.encoded("instance", [], fields)[0][1], 512)
        self.rpc.answer(AllInstancesInfo, {})
        self.assertEqual(self.encoded("instance", [], fields)[0][1], None)

    def test_much(self) -> None:
        """However many combinations of fields are asked for, and however long, the answers are right."""
        names = [name for name, field in self.queries.resources["node"].fields.items() if not field.live]
        for number in range(len(names)):
            fields = ["name", *[names[number]] * 3]
            self.assertEqual(self.encoded("node", [], fields), self.as_others("node", [], fields))


class KeptTests(SynchronousTestCase):
    """How much is kept."""

    def setUp(self) -> None:
        self.made = 0
        self.rows = AllRows([1])

    def parts(self, name: str, size: int) -> list[bytes]:
        """The parts of a field whose value is so long."""

        def get(row: int) -> str:
            self.made += 1
            return "x" * size

        return self.rows.parts([computed(name, name, Kind.TEXT, "", get)], None)

    def test_too_much(self) -> None:
        """What is too much together is evicted; what is too much by itself is not kept, and others stay."""
        half = MOST // 2
        asked = (("a", 9, 1), ("a", 9, 1), ("b", MOST, 2), ("b", MOST, 3), ("a", 9, 3), ("c", half, 4), ("d", half, 5),
                 ("d", half, 5), ("a", 9, 6))  # fmt: skip
        for name, size, made in asked:
            self.assertEqual(len(self.parts(name, size)[0]), size + 2)
            self.assertEqual((name, self.made), (name, made))

    def column(self, name: str, kind: Kind = Kind.TEXT, needs: frozenset[Need] = frozenset()) -> list[Cell]:
        """The cells of a field."""

        def get(row: int) -> str:
            self.made += 1
            return name

        return column(computed(name, name, kind, "", get, needs=needs), self.rows, None)

    def test_columns(self) -> None:
        """Cells of what is configured are made once, unless they are live, or may be of any size."""
        live, configured = frozenset({Need.INSTANCES}), frozenset[Need]()
        asked = (("a", Kind.TEXT, configured, 1), ("a", Kind.TEXT, configured, 1), ("b", Kind.TEXT, live, 2),
                 ("b", Kind.TEXT, live, 3), ("c", Kind.OTHER, configured, 4), ("c", Kind.OTHER, configured, 5),
                 ("a", Kind.TEXT, configured, 5))  # fmt: skip
        for name, kind, needs, made in asked:
            self.assertEqual(self.column(name, kind, needs), [(0, name)])
            self.assertEqual((name, self.made), (name, made))

    def test_columns_make_way(self) -> None:
        """They are kept in the same room."""
        self.column("a")
        self.parts("b", MOST - 1000)
        self.column("a")
        self.assertEqual(self.made, 2)
        self.parts("c", 2000)
        self.column("a")
        self.assertEqual(self.made, 4)
