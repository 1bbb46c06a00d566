"""Tests of tags."""

from msgspec.structs import replace

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.opcodes import OpTagsDel, OpTagsGet, OpTagsSearch, OpTagsSet
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
        self.assertIn("gone", self.refused(OpTagsDel(kind=TagKind.CLUSTER, tags=("gone",)), OpPrereqError))

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
