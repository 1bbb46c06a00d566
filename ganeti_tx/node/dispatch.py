"""From a node call to the one method that does it."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from twisted.logger import Logger

from ganeti_tx.errors import GenericError, ProgrammerError
from ganeti_tx.node.answers import Method, methods_of
from ganeti_tx.node.own_faults import OWN_FAULTS, told_to_caller
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.refusals import UnknownCall
from ganeti_tx.rpc.table import CALLS
from ganeti_tx.runtime.files_errors import reason

log = Logger()

#: Does a call by its method, if it may come from the node of that name.
Guard = Callable[[NodeCall[object], str | None, Method], Awaitable[Any]]
#: Refuses what is not to be done, when its turn has come.
Check = Callable[[NodeCall[object]], Awaitable[None]]
#: Does a call by its method when its turn has come.
Order = Callable[[NodeCall[object], Method, Callable[[], bool]], Awaitable[Any]]


class NodeDispatch:
    """Every call that this node answers."""

    def __init__(
        self, *parts: object, guard: Guard | None = None, order: Order | None = None, check: Check | None = None
    ) -> None:
        """@param parts: their methods that are declared by `answers` are taken.

        @param guard: stands before every method, and refuses calls that may not come from their caller.
        @param order: stands behind it, and does calls for the same thing one after the other.
        @param check: stands last.
        """
        self._guard = guard
        self._order = order
        self._check = check
        self._methods = methods_of(parts)

    def kind_of(self, name: str) -> type[NodeCall[object]]:
        """The call of this name. @raise UnknownCall: there is none here."""
        kind = CALLS.get(name)
        if kind is None or kind not in self._methods:
            raise UnknownCall(f"this node daemon knows no call {name[:100]!r}")
        return kind

    async def perform(
        self, call: NodeCall[object], caller: str | None = None, wanted: Callable[[], bool] = lambda: True
    ) -> Any:
        """Do it.

        @param caller: the name of the node that asks, where it is known. @param wanted: whether it still waits.
        @raise GanetiError: one line for the caller; a fault of ours is in the log in full.
        """
        try:
            method = partial(self._in_order, wanted)
            return await (method(call) if self._guard is None else self._guard(call, caller, method))
        except OSError as error:
            raise GenericError(f"{call.name}: {reason(error)}")
        except OWN_FAULTS as fault:
            log.failure("the call {call} broke", call=call.name)
            raise ProgrammerError(f"{call.name}: {told_to_caller(fault)}")

    async def _in_order(self, wanted: Callable[[], bool], call: NodeCall[object]) -> Any:
        method = self._method
        return await (method(call) if self._order is None else self._order(call, method, wanted))

    async def _method(self, call: NodeCall[object]) -> Any:
        if self._check is not None:
            await self._check(call)
        return await self._methods[type(call)](call)
