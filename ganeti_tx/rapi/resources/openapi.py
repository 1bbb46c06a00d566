"""The description of all operations, its own included."""

from functools import cache
from typing import Any

from ganeti_tx.rapi.operations.openapi import document
from ganeti_tx.rapi.operations.operation import Call, Operation

PATH = "/openapi.json"


def with_description(operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """The operations, and the one that describes them all."""

    @cache
    def whole() -> dict[str, Any]:
        return document(everything)

    async def run(call: Call) -> object:
        return whole()

    everything = (
        *operations,
        Operation(
            method="GET",
            path=PATH,
            resource="openapi",
            access=frozenset(),
            run=run,
            summary="This description",
            result={"type": "object", "required": ["openapi", "info", "paths"]},
            tags=("cluster",),
        ),
    )
    return everything
