"""Which method of the node daemon does which call: declared at the method."""

from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from ganeti_tx.rpc.calls.base import NodeCall

#: The attribute of a method that says which calls it does.
MARK = "node_call"
#: Does one call and gives its result.
Method = Callable[[Any], Coroutine[Any, Any, Any]]

P = TypeVar("P")
C = TypeVar("C")
C_co = TypeVar("C_co", covariant=True)
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Kind(Protocol[C_co, R_co]):
    """The class of a call C that is answered with an R."""

    def __call__(self, *args: Any, **fields: Any) -> C_co:
        """A call."""

    def result(self) -> type[R_co]:
        """The type of the answer."""


def answers(
    kind: Kind[C, R],
) -> Callable[[Callable[[P, C], Coroutine[Any, Any, R]]], Callable[[P, C], Coroutine[Any, Any, R]]]:
    """Declare that a method does the calls of a kind."""

    def declare(method: Callable[[P, C], Coroutine[Any, Any, R]]) -> Callable[[P, C], Coroutine[Any, Any, R]]:
        vars(method)[MARK] = kind
        return method

    return declare


def methods_of(parts: Iterable[object]) -> dict[type[NodeCall[object]], Method]:
    """The calls that objects answer, each with its method. @raise ValueError: two do the same call, or one does none."""
    found: dict[type[NodeCall[object]], Method] = {}
    for part in parts:
        own = dict(declared_in(part))
        if not own or own.keys() & found.keys():
            raise ValueError(f"{type(part).__name__} answers no call, or one that is answered: {[*own]}")
        found.update(own)
    return found


def declared_in(part: object) -> Iterator[tuple[type[NodeCall[object]], Method]]:
    """The calls of one object."""
    for name in dir(type(part)):
        kind = getattr(getattr(type(part), name, None), MARK, None)
        if kind is not None:
            yield kind, getattr(part, name)
