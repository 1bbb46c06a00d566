"""Methods of a protocol with LUXI's frames and messages: each with its arguments, as servers check them."""

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.luxi.shapes import Shape, ShapeError, wrong


class Param(NamedTuple):
    """One argument in its place; optional ones stand last. Clients of ours send no number above `most`."""

    meaning: str
    shape: Shape
    optional: bool = False
    most: int | None = None


class Effect(Enum):
    """What comes of a method."""

    TELLS = "what there is now, at once, and changes nothing"
    WAITS = "an answer when something happens, and changes nothing"
    CHANGES = "something may be another afterwards"


class Method(NamedTuple):
    """One method; `any_args` marks those that look at no arguments at all, whatever is sent.

    One that `asks_nodes` may take as long as the slowest node does. A client that waits for one that `gives_way` loses its
    connection when others need the place; it can ask again.
    """

    name: str
    params: tuple[Param, ...]
    effect: Effect = Effect.CHANGES
    any_args: bool = False
    asks_nodes: bool = False
    gives_way: bool = False

    def read(self, args: object) -> list[object]:
        """The arguments, checked, job ids as ints; absent optional ones stay absent.

        @raise OpPrereqError: the wrong number of arguments, or one of another shape (wrong_input).
        """
        if self.any_args:
            return []
        if not isinstance(args, list):
            raise self._refusal(str(wrong("a list of arguments", args)))
        required = sum(not param.optional for param in self.params)
        if not required <= len(args) <= len(self.params):
            raise self._refusal(f"got {len(args)} arguments, expected {self._signature()}")
        return [self._read_one(*pair) for pair in zip(self.params, args, strict=False)]

    def _read_one(self, param: Param, value: object) -> object:
        try:
            return param.shape.read(value)
        except ShapeError as error:
            raise self._refusal(f"{param.meaning}: {error}") from None

    def _signature(self) -> str:
        return "(" + "; ".join(param.meaning for param in self.params) + ")"

    def _refusal(self, text: str) -> OpPrereqError:
        return OpPrereqError(f"{self.name}: {text}", ECode.INVAL)


class MethodTable:
    """The methods of one protocol by name."""

    def __init__(self, methods: Iterable[Method]) -> None:
        self._methods = {method.name: method for method in methods}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all methods, in the order of the table."""
        return tuple(self._methods)

    def __iter__(self) -> Iterator[Method]:
        return iter(self._methods.values())

    def __getitem__(self, name: str) -> Method:
        """The method of a name. @raise OpPrereqError: there is none (wrong_input)."""
        method = self._methods.get(name)
        if method is None:
            raise OpPrereqError(f"Unknown method {name[:100]!r}; known are {', '.join(self._methods)}", ECode.INVAL)
        return method
