"""Which logical unit does which opcode, read off the units themselves: every class in this package that names its opcode.

An opcode that is not here is not available in this version: a job with it is refused when it is submitted, and the Remote API
neither describes nor takes requests for it.
"""

import pkgutil
from collections.abc import Iterable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from ganeti_tx import logic
from ganeti_tx.logic.unit import LogicalUnit, UnitTable
from ganeti_tx.model.opcodes.base import OpCode

Unit = type[LogicalUnit[Any]]


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """Every module below a package, but this one."""
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if found.name != __name__:
            yield import_module(found.name)


def units_in(module: ModuleType) -> Iterator[Unit]:
    """The classes that a module defines, not those it imports, and whose type says an opcode."""
    classes = (value for value in vars(module).values() if isinstance(value, type))
    own = (kind for kind in classes if kind.__module__ == module.__name__ and issubclass(kind, LogicalUnit))
    return (kind for kind in own if "opcode" in vars(kind))


def by_opcode(units: Iterable[Unit]) -> UnitTable:
    """@raise TypeError: two units do the same opcode."""
    table: dict[type[OpCode], Unit] = {}
    for unit in units:
        if (first := table.setdefault(unit.opcode, unit)) is not unit:
            raise TypeError(f"{unit.opcode.op_id()} has two logical units: {first.__qualname__}, {unit.__qualname__}")
    return table


UNITS: UnitTable = by_opcode(unit for module in modules(logic) for unit in units_in(module))
