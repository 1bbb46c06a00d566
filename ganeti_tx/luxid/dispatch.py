"""From a LUXI method to the one call that answers it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ganeti_tx.errors import ECode, GenericError, OpPrereqError
from ganeti_tx.luxi.peer import Peer
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.to_its_end import to_its_end

Answer = Callable[..., Awaitable[Any]]

#: Methods that only read, or wait, end with the client who asked. What changes something goes on: it must not stop half-way.
ENDS_WITH_CLIENT = ("Query", "WaitForJobChange")


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
        asked = self._asked(method, answer, args)
        return await (asked if method.startswith(ENDS_WITH_CLIENT) else to_its_end(asked))

    async def _asked(self, method: str, answer: Answer, args: list[Any]) -> Any:
        try:
            return await answer(*args)
        except OSError as error:  # the disk's; its text says what can be done
            raise GenericError(f"{method}: {reason(error)}") from None
