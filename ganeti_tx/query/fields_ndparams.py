"""The fields of node parameters, which nodes and groups share."""

from collections.abc import Callable
from typing import Any

from ganeti_tx.model.base import Params
from ganeti_tx.model.params.kinds import types_of
from ganeti_tx.model.params.node import NodeParams
from ganeti_tx.query.language.field import Field, Gives, Kind

#: From a query's context to what fills a row's node parameters.
Fill = Callable[[Any], Callable[[Any], Params]]

KINDS = {bool: Kind.BOOL, int: Kind.NUMBER, float: Kind.FLOAT}
TITLES = {
    "exclusive_storage": "ExclusiveStorage",
    "oob_program": "OutOfBandProgram",
    "ovs": "OpenvSwitch",
    "ovs_link": "OpenvSwitchLink",
    "ovs_name": "OpenvSwitchName",
    "spindle_count": "SpindleCount",
}


def as_told(params: Params) -> Params:
    """Whole numbers without a fraction, as Ganeti's daemon tells them: clients print what they are told."""
    return {
        key: int(value) if isinstance(value, float) and value.is_integer() else value for key, value in params.items()
    }


def ndparam_fields(fill: Fill) -> list[Field]:
    """One field for each node parameter."""
    return [ndparam_field(fill, key, declared) for key, declared in types_of(NodeParams).items()]


def ndparam_field(fill: Fill, key: str, declared: Any) -> Field:
    """The field of one node parameter."""

    def bind(context: Any) -> Callable[[Any], object]:
        filled = fill(context)
        return lambda row: filled(row)[key]

    kind, title = KINDS.get(declared, Kind.OTHER), TITLES.get(key, f"ndp/{key}")
    return Field(f"ndp/{key}", title, kind, f'The "{key}" node parameter', bind, Gives.MAYBE)
