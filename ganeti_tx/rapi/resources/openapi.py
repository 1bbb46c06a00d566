"""The description of all operations, its own included."""

from functools import cache
from typing import Any

from ganeti_tx.rapi.operations.openapi import document
from ganeti_tx.rapi.operations.operation import Call, Operation

PATH = "/openapi.json"


def with_description(
    operations: tuple[Operation, ...], described: tuple[Operation, ...] | None = None
) -> tuple[Operation, ...]:
    """The operations, and the one that describes them all, or those given, and itself."""

    @cache
    def whole() -> dict[str, Any]:
        return document((*(operations if described is None else described), own))

    async def run(call: Call) -> object:
        return whole()

    own = Operation(
        method="GET",
        path=PATH,
        resource="openapi",
        access=frozenset(),
        run=run,
        summary="This description",
        result={"type": "object", "required": ["openapi", "info", "paths"]},
        tags=("cluster",),
    )
    return (*operations, own)
