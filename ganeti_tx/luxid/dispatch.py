"""From a LUXI method to the one call that answers it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ganeti_tx.errors import ECode, GenericError, OpPrereqError
from ganeti_tx.luxi.peer import Peer
from ganeti_tx.runtime.files_errors import reason

Answer = Callable[..., Awaitable[Any]]


class LuxiDispatch:
    """Every method that this daemon answers; the others of LUXI's table get a proper error."""

    def __init__(self, *tables: Mapping[str, Answer]) -> None:
        self._answers = {name: answer for table in tables for name, answer in table.items()}

    async def __call__(self, method: str, args: list[Any], peer: Peer | None) -> Any:
        """The method's result. The arguments have been checked against LUXI's table."""
        answer = self._answers.get(method)
        if answer is None:
            available = ", ".join(sorted(self._answers))
            raise OpPrereqError(f"{method} is not available in this version; available are {available}", ECode.INVAL)
        try:
            return await answer(*args)
        except OSError as error:  # the disk's; its text says what can be done
            raise GenericError(f"{method}: {reason(error)}") from None
