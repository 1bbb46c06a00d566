"""One operation of the configuration: declared from the function that does it, and from there typed for all who ask for it.

The function's signature is the only one: mypy has it through the descriptor, the protocol reads its annotations.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from enum import Enum
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, get_type_hints, overload

import attrs

from ganeti_tx.config.session import Session

P = ParamSpec("P")
T = TypeVar("T")


class Effect(Enum):
    """What stays of an operation. Jobs, the protocol and the daemon ask for this, never for a name."""

    NOTHING = "it only reads, or waits"
    CHANGED = "the configuration is another, or is sent out anew: a step of a job's work"
    RESERVED = "its owner has something until it ends or gives it back; a restart of the daemon must find it"
    GIVEN_BACK = "its owner has reserved nothing any more; a restart must find it so"


class Repeat(Enum):
    """Whether a request may be sent again when the connection was lost before the answer."""

    SAFE = "doing it twice is doing it once"
    NEVER = "whether it was done would not be known"


@attrs.frozen
class Argument:
    """One argument: its name, and the type that msgspec checks."""

    name: str
    kind: Any


class Operations(ABC):
    """Who has operations as methods, each a coroutine."""

    @abstractmethod
    async def perform(self, operation: "Operation[..., T]", arguments: tuple[Any, ...]) -> T:
        """Have it done, with all its arguments in their order."""


class Operation(Generic[P, T]):
    """One operation. On an object it is a method, on the class itself it is this.

    @ivar name: on the wire.
    @ivar attribute: the method's name.
    @ivar result: the type of what it gives.
    @ivar effect: what stays of it.
    @ivar waits: whether it takes as long as others need.
    @ivar work: does it for a session.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        work: Callable[Concatenate[Session, P], Awaitable[T]],
        *,
        given_by_others: int = 1,
        result: Any = None,
        effect: Effect = Effect.NOTHING,
        repeat: Repeat = Repeat.SAFE,
        waits: bool = False,
    ) -> None:
        """`given_by_others`: so many of the function's arguments, the first ones, no caller gives."""
        self.name = name
        self.attribute = name
        self.arguments = arguments_of(function, given_by_others)
        self.result: type[T] = get_type_hints(function)["return"] if result is None else result
        self.effect = effect
        self.repeat = repeat
        self.waits = waits
        self.work = work
        self.__doc__ = function.__doc__
        self._signature = inspect.Signature(parameters(function, given_by_others))

    def __set_name__(self, owner: type, name: str) -> None:
        self.attribute = name

    def given(self, *args: P.args, **kwargs: P.kwargs) -> tuple[Any, ...]:
        """All arguments in their order; most are given so. @raise TypeError: there is no such call."""
        if not kwargs and len(args) == len(self.arguments):
            return args
        given = self._signature.bind(*args, **kwargs)
        given.apply_defaults()
        return given.args

    @overload
    def __get__(self, config: None, owner: object) -> "Operation[P, T]": ...
    @overload
    def __get__(self, config: Operations, owner: object) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, config: Any, owner: object) -> Any:
        if config is None:
            return self

        def ask(*args: P.args, **kwargs: P.kwargs) -> Any:
            return config.perform(self, self.given(*args, **kwargs))

        return ask


def parameters(function: Callable[..., Any], skipped: int) -> list[inspect.Parameter]:
    """What a function takes after the first ones."""
    return list(inspect.signature(function).parameters.values())[skipped:]


def arguments_of(function: Callable[..., Any], skipped: int) -> tuple[Argument, ...]:
    """The same with its types, as the annotations have them."""
    hints = get_type_hints(function)
    return tuple(Argument(each.name, hints[each.name]) for each in parameters(function, skipped))


def operations_of(kind: type) -> dict[str, Operation[..., Any]]:
    """All that a class declares or inherits, by their names on the wire, in their order."""
    declared = [each for base in reversed(kind.__mro__) for each in vars(base).values()]
    return {each.name: each for each in declared if isinstance(each, Operation)}
