"""One operation of the configuration, and who has operations as methods."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from enum import Enum
from typing import Any, Concatenate, ParamSpec, TypeVar, overload

from ganeti_tx.config.call import Call, Repeat
from ganeti_tx.config.session import Session

P = ParamSpec("P")
T = TypeVar("T")


class Effect(Enum):
    """What stays of an operation. Jobs, the protocol and the daemon ask for this, never for a name."""

    NOTHING = "it only reads, or waits"
    CHANGED = "the configuration is another, or is sent out anew: a step of a job's work"
    RESERVED = "its owner has something until it ends or gives it back; a restart of the daemon must find it"
    GIVEN_BACK = "its owner has reserved nothing any more; a restart must find it so"


class Operations(ABC):
    """Who has operations as methods, each a coroutine."""

    @abstractmethod
    async def perform(self, operation: "Operation[..., T]", arguments: tuple[Any, ...]) -> T:
        """Have it done, with all its arguments in their order."""


class Operation(Call[P, T]):
    """One operation. On an object it is a method, on the class itself it is this.

    @ivar attribute: the method's name.
    @ivar work: does it for a session.
    @ivar effect: what stays of it.
    @ivar waits: whether it takes as long as others need.
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
        super().__init__(name, function, given_by_others=given_by_others, result=result, repeat=repeat)
        self.attribute = name
        self.work = work
        self.effect = effect
        self.waits = waits

    def __set_name__(self, owner: type, name: str) -> None:
        self.attribute = name

    @overload
    def __get__(self, config: None, owner: object) -> "Operation[P, T]": ...
    @overload
    def __get__(self, config: Operations, owner: object) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, config: Any, owner: object) -> Any:
        if config is None:
            return self

        def ask(*args: P.args, **named: P.kwargs) -> Any:
            return config.perform(self, self.given(*args, **named))

        return ask


def operations_of(kind: type) -> dict[str, Operation[..., Any]]:
    """All that a class declares or inherits, by their names on the wire, in their order."""
    declared = [each for base in reversed(kind.__mro__) for each in vars(base).values()]
    return {each.name: each for each in declared if isinstance(each, Operation)}
