"""Tests of tags."""

import itertools

from msgspec.structs import replace
from twisted.internet.defer import CancelledError

from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.opcodes import OpTagsDel, OpTagsGet, OpTagsSearch, OpTagsSet
from ganeti_tx.query.language.slices import LIMIT
from ganeti_tx.test.logic.stage import CONFIG, UnitTestCase
from ganeti_tx.test.model.samples import NETWORK


class TagTests(UnitTestCase):
    """OP_TAGS_SET, OP_TAGS_GET, OP_TAGS_DEL and OP_TAGS_SEARCH."""

    def test_set_get_delete(self) -> None:
        """What is set can be read, sorted, until it is deleted; whatever carries it."""
        for kind, name in (
            (TagKind.CLUSTER, None),
            (TagKind.INSTANCE, "web1"),
            (TagKind.NODE, "node2"),
            (TagKind.NODEGROUP, "default"),
        ):
            self.run_op(OpTagsSet(kind=kind, name=name, tags=("b", "a")))
            self.assertEqual(self.run_op(OpTagsGet(kind=kind, name=name)), ["a", "b"])
            self.run_op(OpTagsDel(kind=kind, name=name, tags=("a",)))
            self.assertEqual(self.run_op(OpTagsGet(kind=kind, name=name)), ["b"])

    def test_locks(self) -> None:
        """Only what changes is locked."""
        self.run_op(OpTagsSet(kind=TagKind.INSTANCE, name="web1", tags=("a",)))
        self.assertEqual(self.stage.locked, {"cluster/BGL": "shared", "instance/web1.example.com": "exclusive"})

    def test_not_tags(self) -> None:
        """Length and characters are limited; the text shows the tag."""
        self.assertIn("bad!", self.refused(OpTagsSet(kind=TagKind.CLUSTER, tags=("bad!",)), OpPrereqError))
        self.assertIn("128", self.refused(OpTagsSet(kind=TagKind.CLUSTER, tags=("x" * 129,)), OpPrereqError))
        self.run_op(OpTagsSet(kind=TagKind.CLUSTER, tags=("x" * 128,)))

    def test_missing(self) -> None:
        """A tag that is not there cannot be deleted."""
        for tags, there in ((), "none"), (("red", "blue"), "blue, red"):
            self.run_op(OpTagsSet(kind=TagKind.CLUSTER, tags=tags or ("tmp",)))
            if not tags:
                self.run_op(OpTagsDel(kind=TagKind.CLUSTER, tags=("tmp",)))
            for wrong, said in (("gone",), "'gone'"), (("gone", "lost"), "'gone', 'lost'"):
                refused = self.refused(OpTagsDel(kind=TagKind.CLUSTER, tags=wrong), OpPrereqError)
                self.assertIn(f"Tag(s) {said} not found; there are {there}", refused)

    def test_search(self) -> None:
        """Pairs of where and what; a pattern that is none is refused."""
        self.run_op(OpTagsSet(kind=TagKind.CLUSTER, tags=("site:a",)))
        self.run_op(OpTagsSet(kind=TagKind.INSTANCE, name="web1", tags=("site:b", "other")))
        found = self.run_op(OpTagsSearch(pattern="^site:"))
        self.assertEqual(found, [("/cluster", "site:a"), ("/instances/web1.example.com", "site:b")])
        self.assertIn("'('", self.refused(OpTagsSearch(pattern="("), OpPrereqError))

    def test_search_networks(self) -> None:
        """Networks are searched too."""
        lan = replace(NETWORK, tags=("office",))
        self.stage = self.make_stage(replace(CONFIG, networks={lan.uuid: lan}))
        self.assertEqual(self.run_op(OpTagsSearch(pattern="off")), [("/network/lan", "office")])

    def test_costly_pattern(self) -> None:
        """A pattern that may run away is refused before it runs."""
        self.assertIn("repeats a group", self.refused(OpTagsSearch(pattern="(a+)+$"), OpPrereqError))
        self.run_op(OpTagsSet(kind=TagKind.CLUSTER, tags=("a" * 128,)))
        self.assertIn("too costly", self.refused(OpTagsSearch(pattern=".*a" * 6 + "b"), OpExecError))

    def slow_search(self, seconds: float) -> None:
        """The search takes so long for each tag."""
        self.run_op(OpTagsSet(kind=TagKind.CLUSTER, tags=("a", "b", "c", "d", "e")))
        ticks = itertools.count()
        self.stage.worked = lambda: next(ticks) * seconds

    def test_too_long(self) -> None:
        """A search that takes too long ends with what the limit is."""
        self.slow_search(1.0)
        searching = self.stage.run(OpTagsSearch(pattern="x"))
        self.stage.clock.pump([0.0] * 20)
        self.assertIn(f"{LIMIT:g} seconds", str(self.failureResultOf(searching, OpExecError).value))

    def test_cancelled(self) -> None:
        """A search can be stopped in the midst."""
        self.slow_search(0.1)
        searching = self.stage.run(OpTagsSearch(pattern="x"))
        self.assertNoResult(searching)
        self.stage.safe_points.stop()
        self.failureResultOf(searching, CancelledError)
