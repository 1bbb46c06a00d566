"""Operations that this version cannot do: they are refused before anything is submitted, and not described."""

from collections.abc import Container, Iterable
from http import HTTPStatus

from attrs import evolve

from ganeti_tx.model.opcodes import OPCODES, OpCode
from ganeti_tx.rapi.http.http_errors import HttpError
from ganeti_tx.rapi.operations.operation import Call, Operation


def missing(operation: Operation, built: Container[type[OpCode]]) -> list[str]:
    """The opcodes of its job that nothing can do."""
    return [op_id for op_id in operation.submits if OPCODES[op_id] not in built]


def available(operations: Iterable[Operation], built: Container[type[OpCode]]) -> tuple[Operation, ...]:
    """Those whose jobs can be done whole."""
    return tuple(operation for operation in operations if not missing(operation, built))


def refusing_unavailable(operations: Iterable[Operation], built: Container[type[OpCode]]) -> tuple[Operation, ...]:
    """All of them, where those that cannot be done answer 501 to who may ask."""
    return tuple(
        refusing(operation, lacks) if (lacks := missing(operation, built)) else operation for operation in operations
    )


def refusing(operation: Operation, lacks: list[str]) -> Operation:
    """The operation, which now does nothing but say what is missing."""
    message = f"{operation.method} {operation.path} is not available in this version: it needs {', '.join(lacks)}"

    async def run(call: Call) -> object:
        raise HttpError(HTTPStatus.NOT_IMPLEMENTED, message)

    return evolve(operation, run=run)
