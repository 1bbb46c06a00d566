"""Which program knows of a node's power."""

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.params.node import fill_ndparams, oob_program
from ganeti_tx.test.logic.stage import CONFIG, GROUP
from ganeti_tx.test.model.samples import NODE


class OobProgramTests(SynchronousTestCase):
    """The innermost level that says something counts."""

    def test_levels(self) -> None:
        """An exclamation mark stops the inheritance."""
        for cluster, group, node, found in (
            (None, None, None, ""),
            ("/a", None, None, "/a"),
            ("/a", "/b", None, "/b"),
            ("/a", "/b", "/c", "/c"),
            ("/a", "!", None, ""),
            ("/a", "!", "/c", "/c"),
            ("/a", None, "!", ""),
            ("!", None, None, ""),
            ("/a", "", None, ""),
        ):
            levels = [{} if each is None else {"oob_program": each} for each in (cluster, group, node)]
            filled = fill_ndparams(
                replace(CONFIG.cluster, ndparams=levels[0]),
                replace(GROUP, ndparams=levels[1]),
                replace(NODE, ndparams=levels[2]),
            )
            self.assertEqual(oob_program(filled), found, levels)
