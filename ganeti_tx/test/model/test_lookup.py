"""Finding objects by what people type."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.lookup import NameIndex, find
from ganeti_tx.model.node import Node
from ganeti_tx.test.model.samples import NODE


def nodes(*names: str) -> dict[str, Node]:
    """Nodes with these names, by uuid."""
    return {f"uuid-{name}": replace(NODE, name=name, uuid=f"uuid-{name}") for name in names}


class LookupTests(SynchronousTestCase):
    """Name, unique short name, uuid."""

    def setUp(self) -> None:
        self.held = nodes("web1.example.com", "web1.example.org", "db.example.com", "db.example", "solo.example.com")

    def test_ways(self) -> None:
        """A name, its leading parts, other case, and the uuid all find the object."""
        for wanted in ("solo.example.com", "solo", "solo.example", "SOLO", "uuid-solo.example.com"):
            self.assertEqual(find("node", self.held, wanted).name, "solo.example.com")

    def test_whole_name_first(self) -> None:
        """A whole name is meant even when it begins another one."""
        self.assertEqual(find("node", self.held, "db.example").name, "db.example")

    def test_part_of_a_component(self) -> None:
        """Only whole components count: "sol" is not "solo"."""
        error = self.assertRaises(OpPrereqError, find, "node", self.held, "sol")
        self.assertEqual((str(error), error.ecode), ("Node 'sol' not known", ECode.NOENT))

    def test_ambiguous(self) -> None:
        """Several candidates are an error that lists them."""
        error = self.assertRaises(OpPrereqError, find, "node", self.held, "web1")
        self.assertEqual(str(error), "node 'web1' is ambiguous: web1.example.com, web1.example.org")

    def test_many_candidates(self) -> None:
        """The list of candidates stays short."""
        error = self.assertRaises(OpPrereqError, find, "node", nodes(*(f"a.b{n:03}" for n in range(99))), "a")
        self.assertIn("and 89 more", str(error))

    def test_nothing(self) -> None:
        """Empty text finds nothing."""
        self.assertRaises(OpPrereqError, find, "node", self.held, "")

    @given(st.sets(st.from_regex(r"[a-c]{1,2}(\.[a-c]){0,2}", fullmatch=True), min_size=1, max_size=8))
    @settings(max_examples=60, deadline=None)
    def test_every_name(self, names: set[str]) -> None:
        """Every full name and uuid finds its own object; a short name only the one it is unique to."""
        index = NameIndex("node", nodes(*names))
        for name in names:
            self.assertEqual(index.find_all([name, f"uuid-{name}"]), [index.find(name)] * 2)
            self.assertEqual(index.find(name).name, name)
            short = name.split(".")[0]
            meant = [other for other in names if other == short] or [o for o in names if o.startswith(f"{short}.")]
            if len(meant) == 1:
                self.assertEqual(index.find(short).name, meant[0])
            else:
                self.assertRaises(OpPrereqError, index.find, short)

    @given(
        st.sets(st.from_regex(r"[a-b]{1,2}(\.[a-bA]){0,2}", fullmatch=True), max_size=6), st.text("abA.", max_size=6)
    )
    @settings(max_examples=200, deadline=None)
    def test_both_ways(self, names: set[str], wanted: str) -> None:
        """Looking once finds, and refuses, what the index does."""
        held = nodes(*names)

        def outcome(look: Callable[[], Node]) -> tuple[object, ...]:
            try:
                return (look().name,)
            except OpPrereqError as error:
                return error.args

        self.assertEqual(
            outcome(lambda: find("node", held, wanted)), outcome(lambda: NameIndex("node", held).find(wanted))
        )
