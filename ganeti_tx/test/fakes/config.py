"""A configuration that fails where a test wants it."""

from typing import Any, TypeVar

import attrs

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.config.operation import Operation
from ganeti_tx.errors import GanetiError

T = TypeVar("T")


@attrs.define(eq=False)
class FailingConfig(IConfig):
    """Passes everything on to a real one, save what `failing` has an error for; nothing is done of that."""

    config: IConfig
    failing: dict[Operation[..., Any], GanetiError] = attrs.field(factory=dict)

    async def perform(self, operation: Operation[..., T], arguments: tuple[Any, ...]) -> T:
        """See Operations."""
        if operation in self.failing:
            raise self.failing[operation]
        return await self.config.perform(operation, arguments)
