"""One request to the daemon of the configuration: what both ends know of it, read off the function that answers it."""

import inspect
from collections.abc import Callable
from enum import Enum
from typing import Any, Generic, ParamSpec, TypeVar, get_type_hints

import attrs

P = ParamSpec("P")
R = TypeVar("R")


class Repeat(Enum):
    """Whether a request may be sent again when the connection was lost before the answer."""

    SAFE = "doing it twice is doing it once"
    NEVER = "whether it was done would not be known"


@attrs.frozen
class Argument:
    """One argument: its name, and the type that msgspec checks."""

    name: str
    kind: Any


class Call(Generic[P, R]):
    """One request. The function's signature is the only one: mypy has it as P and R, the protocol reads its annotations.

    @ivar name: on the wire.
    @ivar arguments: what its caller gives.
    @ivar result: the type of what it gives.
    @ivar repeat: whether it may be sent twice.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        given_by_others: int,
        result: Any = None,
        repeat: Repeat = Repeat.SAFE,
    ) -> None:
        """
        @param given_by_others: so many of the function's arguments, the first ones, no caller gives.
        @param result: where it is another than that of the function.
        """
        hints = get_type_hints(function)
        parameters = list(inspect.signature(function).parameters.values())[given_by_others:]
        self.name = name
        self.arguments = tuple(Argument(each.name, hints[each.name]) for each in parameters)
        self.result: type[R] = hints["return"] if result is None else result
        self.repeat = repeat
        self.__doc__ = function.__doc__
        self._signature = inspect.Signature(parameters)

    def given(self, *args: P.args, **named: P.kwargs) -> tuple[Any, ...]:
        """All arguments in their order; most callers give them so. @raise TypeError: there is no such call."""
        if not named and len(args) == len(self.arguments):
            return args
        bound = self._signature.bind(*args, **named)
        bound.apply_defaults()
        return bound.args
