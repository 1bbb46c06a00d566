"""All of WConfD's methods, and the server's check of their arguments. Each request begins with its owner."""

from typing import Any

import msgspec

from ganeti_tx.config.call import Argument, Call
from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.config.operation import operations_of
from ganeti_tx.luxi.method_table import Method, MethodTable, Param
from ganeti_tx.luxi.shapes import Shape, ShapeError
from ganeti_tx.wconfd.protocol.own_calls import OWN_CALLS
from ganeti_tx.wconfd.protocol.own_methods import WireOwner
from ganeti_tx.wconfd.protocol.words import word

#: Every operation of the configuration; it is declared there.
CONFIG_OPERATIONS = operations_of(IConfig)
CALLS: dict[str, Call[..., Any]] = {**CONFIG_OPERATIONS, **OWN_CALLS}


def shape(kind: Any) -> Shape:
    """The shape of what one type decodes."""

    def read(value: object) -> object:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            raise ShapeError(str(error)) from None

    return Shape(word(kind), read)


def server_table() -> MethodTable:
    """The methods as the server checks them: the owner, then the arguments."""
    owner = Param("owner [job id, livelock]", shape(WireOwner))
    return MethodTable(Method(call.name, (owner, *map(param, call.arguments))) for call in CALLS.values())


def param(argument: Argument) -> Param:
    """One argument as the server checks it; refusals name it, and what it may be."""
    return Param(f"{argument.name} ({word(argument.kind)})", shape(argument.kind))
