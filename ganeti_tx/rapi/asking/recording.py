"""LUXI as one request sees it: what it asks is written down, so that an equal request can be answered from memory."""

from typing import Any, NamedTuple, Protocol

from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.rapi.asking.questions import only_reads, question, result


class Luxi(Protocol):
    """What the Remote API needs of LUXI."""

    async def ask(self, message: bytes) -> bytes:
        """The answer to a `question`, as it came. @raise GanetiError: there is none"""

    async def call(self, method: str, args: list[Any]) -> Any:
        """As AsyncClient.call says."""


class Exchange(NamedTuple):
    """A question and what was answered."""

    question: bytes
    answer: bytes


class Recording(AsyncCalls):
    """Calls of one request.

    @ivar asked: the questions with their answers, in order; None when something else than questions was asked.
    """

    def __init__(self, luxi: Luxi, known: dict[bytes, bytes] | None = None) -> None:
        """@param known: answers that were had already, for this request."""
        self._luxi = luxi
        self._known = known or {}
        self.asked: list[Exchange] | None = []

    async def call(self, method: str, args: list[Any]) -> Any:
        """As AsyncClient.call says."""
        if not only_reads(method):
            self.asked = None
            return await self._luxi.call(method, args)
        message = question(method, args)
        answer = self._known.pop(message, None)
        if answer is None:
            answer = await self._luxi.ask(message)
        if self.asked is not None:
            self.asked.append(Exchange(message, answer))
        return result(answer)
