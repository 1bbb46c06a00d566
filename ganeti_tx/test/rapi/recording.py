"""A LUXI client that answers from a table and remembers what it was asked."""

import json
from collections.abc import Mapping
from typing import Any

from attrs import define, field

from ganeti_tx.luxi.async_calls import AsyncCalls
from ganeti_tx.luxi.methods import METHODS


@define
class RecordingLuxi(AsyncCalls):
    """Refuses what the real server's table of methods refuses; what crosses it is JSON, as on the socket.

    An answer may be an exception, which is raised, or a function of the arguments.
    """

    answers: Mapping[str, Any] = field(factory=dict)
    asked: list[tuple[str, list[Any]]] = field(factory=list)

    async def call(self, method: str, args: list[Any]) -> Any:
        """As AsyncCalls says."""
        sent = METHODS[method].read(json.loads(json.dumps(args)))
        self.asked.append((method, sent))
        answer = self.answers[method]
        if callable(answer):
            answer = answer(*sent)
        if isinstance(answer, Exception):
            raise answer
        return json.loads(json.dumps(answer))

    @property
    def opcodes(self) -> list[dict[str, Any]]:
        """Those of the one job that was submitted."""
        ((method, (ops,)),) = self.asked
        assert method == "SubmitJob", method
        return list(ops)
