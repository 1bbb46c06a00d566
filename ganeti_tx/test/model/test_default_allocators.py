"""Tests of the lists of default allocators."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.model.default_allocators import all_names, names_for, options_for
from ganeti_tx.model.opcodes.types import AllocatorMode

TEXT = "hail,spread/relocate:near, hail/change-group:"


class DefaultAllocatorsTests(SynchronousTestCase):
    """One text holds them all."""

    def test_lists(self) -> None:
        """A kind of request with a list of its own has that, be it empty; all others have the common one."""
        self.assertEqual(names_for(TEXT, AllocatorMode.ALLOCATE), ("hail", "spread"))
        self.assertEqual(names_for(TEXT, AllocatorMode.RELOCATE), ("near", "hail"))
        self.assertEqual(names_for(TEXT, AllocatorMode.CHANGE_GROUP), ())
        self.assertEqual(names_for("relocate:near", AllocatorMode.ALLOCATE), ())
        self.assertEqual(names_for("", AllocatorMode.ALLOCATE), ())
        self.assertEqual(all_names(TEXT), ["hail", "spread", "near"])

    def test_refused(self) -> None:
        """A kind that there is none of; two lists for one."""
        self.assertIn("allowed are allocate, ", str(self.assertRaises(OpPrereqError, all_names, "move:hail")))
        self.assertIn("two lists", str(self.assertRaises(OpPrereqError, all_names, "hail/spread")))

    def test_options(self) -> None:
        """The default allocators get the common parameters, one program those that are named after it."""
        params = {"quick": None, "near:level": 3}
        self.assertEqual(options_for(params, TEXT, "near"), {"quick": None, "level": 3})
        self.assertEqual(options_for(params, TEXT, "hail"), {"quick": None})
        self.assertEqual(options_for(params, TEXT, "other"), {})
