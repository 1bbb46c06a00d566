"""Which logical unit does which opcode."""

from inspect import isabstract
from types import ModuleType

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.logic.registry import UNITS, by_opcode, units_in
from ganeti_tx.logic.tags import get
from ganeti_tx.logic.tags.get import LUTagsGet
from ganeti_tx.logic.unit import LogicalUnit, Op
from ganeti_tx.model.opcodes import OpTagsGet


class RegistryTests(SynchronousTestCase):
    """Units are found by what they are."""

    def test_names(self) -> None:
        """A unit is called as its opcode is, can be made, and has a file for itself."""
        named = {kind: unit.__name__ for kind, unit in UNITS.items()}
        self.assertEqual(named, {kind: f"LU{kind.__name__.removeprefix('Op')}" for kind in UNITS})
        self.assertEqual([unit for unit in UNITS.values() if isabstract(unit)], [])
        self.assertEqual(len({unit.__module__ for unit in UNITS.values()}), len(UNITS))

    def test_own_units_only(self) -> None:
        """What a module merely imports, and what serves several units, is no unit of it."""

        class Several(LogicalUnit[Op]):
            pass

        module = ModuleType(get.__name__)
        module.__dict__.update(vars(get), Several=Several, LogicalUnit=LogicalUnit)
        Several.__module__ = module.__name__
        self.assertEqual(list(units_in(module)), [LUTagsGet])
        other = ModuleType("elsewhere")
        other.__dict__.update(LUTagsGet=LUTagsGet)
        self.assertEqual(list(units_in(other)), [])

    def test_two_units(self) -> None:
        """An opcode with two units is an error, and the error names them."""

        class Another(LogicalUnit[OpTagsGet]):
            async def execute(self) -> None:
                """Nothing."""

        error = self.assertRaises(TypeError, by_opcode, [LUTagsGet, Another])
        self.assertIn("OP_TAGS_GET has two logical units: LUTagsGet, ", str(error))
