"""All operations of the Remote API."""

import importlib
from collections.abc import Container, Iterator
from pkgutil import iter_modules

from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.rapi import resources
from ganeti_tx.rapi.operations.availability import available, refusing_unavailable
from ganeti_tx.rapi.operations.operation import Operation
from ganeti_tx.rapi.operations.refusals import with_clear_refusals
from ganeti_tx.rapi.resources.openapi import with_description


def _declared() -> Iterator[Operation]:
    """What the modules of this package declare, in the order of their names."""
    for found in sorted(iter_modules(resources.__path__), key=lambda found: found.name):
        if found.name != __name__.rpartition(".")[2]:
            module = importlib.import_module(f"{resources.__name__}.{found.name}")
            yield from getattr(module, "OPERATIONS", ())


_CLEAR = tuple(map(with_clear_refusals, _declared()))
#: What Ganeti's clients know; some of it may be beyond this version.
OPERATIONS = with_description(_CLEAR)


def served_operations(built: Container[type[OpCode]]) -> tuple[Operation, ...]:
    """The operations where jobs can do the opcodes that are `built`: what needs others is refused and not described."""
    return with_description(refusing_unavailable(_CLEAR, built), available(_CLEAR, built))
