"""IConfig over the store in the same process, for one owner."""

from typing import Any, TypeVar

import attrs

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.config.operation import Operation
from ganeti_tx.config.session import Session

T = TypeVar("T")


@attrs.define(eq=False)
class LocalConfig(IConfig):
    """Does every operation itself."""

    session: Session

    async def perform(self, operation: Operation[..., T], arguments: tuple[Any, ...]) -> T:
        """See Operations."""
        return await operation.work(self.session, *arguments)
