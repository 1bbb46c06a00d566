"""Parameters that are whole numbers, but were written with a fraction of nothing.

Elsewhere declarations tell what is a whole number (``model/whole_numbers.py``); layers of parameters are taken as they are.
"""

from typing import Any

from ganeti_tx.config.older.raw import Raw, mapping, objects
from ganeti_tx.model.params.kinds import types_of
from ganeti_tx.model.params.node import NodeParams

LAYERS = ("beparams", "hvparams", "os_hvp", "ndparams", "diskparams")
#: No other kind of parameters has any.
FRACTIONS = frozenset(name for name, kind in types_of(NodeParams).items() if kind is float)


def count_parameters(raw: Raw) -> None:
    """Whole numbers, in place, in all layers."""
    holders = (
        mapping(raw, "cluster"),
        *(each for key in ("nodegroups", "nodes", "instances") for each in objects(raw, key)),
    )
    for holder in holders:
        for layer in LAYERS:
            counted(holder.get(layer))


def counted(held: Any) -> None:
    """Whole numbers in a layer, or in those of it."""
    if not isinstance(held, dict):
        return
    for name, value in held.items():
        if isinstance(value, float) and value.is_integer() and name not in FRACTIONS:
            held[name] = int(value)
        counted(value)
