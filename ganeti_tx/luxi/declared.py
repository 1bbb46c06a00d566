"""One method of LUXI, declared as a function without a body: what it takes on the wire stands in its annotations.

From it come the server's check, and the method of clients that block and of those that wait. The annotations are read
without the module inspect, which costs a command more than all of them.
"""

from collections.abc import Callable, Coroutine, Sequence
from functools import partial, wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from ganeti_tx.luxi.answers import check_type
from ganeti_tx.luxi.method_table import Effect, Method, MethodTable, Param

P = ParamSpec("P")
T = TypeVar("T")


class Blocking:
    """A client whose methods return when the answer is there."""

    def call(self, method: str, args: list[Any]) -> Any:
        """Send one request, return its result. @raise GanetiError: the server's, or there is no answer."""
        raise NotImplementedError


class Waiting:
    """A client whose methods are coroutines."""

    async def call(self, method: str, args: list[Any]) -> Any:
        """Send one request, return its result. @raise GanetiError: the server's, or there is no answer."""
        raise NotImplementedError


class Check(Protocol):
    """Gives a result the type that was declared. @raise ProtocolError: it has another."""

    def __call__(self, kind: type[T], method: str, result: object) -> T: ...


class Declared(Generic[P, T]):
    """A method as a class of clients has it.

    @ivar method: the server's side of it. Its name is that of the function in the spelling of the wire.
    """

    def __init__(
        self,
        declaration: Callable[Concatenate[Any, P], T],
        method: Callable[[str, tuple[Param, ...]], Method],
        check: Check,
    ) -> None:
        annotations = dict(declaration.__annotations__)
        result = annotations.pop("return")
        params = tuple(annotation.__metadata__[0] for annotation in annotations.values())
        self.method = method(declaration.__name__.title().replace("_", ""), params)
        self.__doc__ = declaration.__doc__
        self._declaration = declaration
        self._check = check
        self._kind = getattr(result, "__origin__", result)
        self._params: dict[str, Param] = dict(zip(annotations, params, strict=True))
        values = declaration.__defaults__ or ()
        self._defaults = dict(zip(list(annotations)[len(annotations) - len(values) :], values, strict=True))

    @overload
    def __get__(self, client: None, owner: object) -> "Declared[P, T]": ...
    @overload
    def __get__(self, client: Blocking, owner: object) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Waiting, owner: object) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Any, owner: object) -> Any:
        if client is None:
            return self

        @wraps(self._declaration)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            return self._read(client.call(self.method.name, self.arguments(*args, **kwargs)))

        @wraps(self._declaration)
        async def wait(*args: P.args, **kwargs: P.kwargs) -> T:
            return self._read(await client.call(self.method.name, self.arguments(*args, **kwargs)))

        return call if isinstance(client, Blocking) else wait

    def arguments(self, *args: P.args, **kwargs: P.kwargs) -> list[Any]:
        """What is sent for a call. @raise TypeError: the declaration takes no such call."""
        self._declaration(None, *args, **kwargs)
        given = {**self._defaults, **dict(zip(self._params, args, strict=False)), **kwargs}
        return [sent(param, given[name]) for name, param in self._params.items()]

    def _read(self, result: object) -> T:
        return result if self._kind is Any else self._check(self._kind, self.method.name, result)  # type: ignore[return-value]


def sent(param: Param, value: Any) -> Any:
    """An argument as it is sent."""
    return listed(value, 2) if param.most is None else min(value, param.most)


def listed(value: Any, levels: int) -> Any:
    """A sequence as a list, and what it holds on so many levels: jobs are lists of opcodes. The rest as it is."""
    if levels and isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [listed(each, levels - 1) for each in value]
    return value


def method(
    effect: Effect,
    *,
    any_args: bool = False,
    asks_nodes: bool = False,
    gives_way: bool = False,
    check: Check = check_type,
) -> Callable[[Callable[Concatenate[Any, P], T]], Declared[P, T]]:
    """Declare a method; all but `check` is as `Method` says."""
    made = partial(Method, effect=effect, any_args=any_args, asks_nodes=asks_nodes, gives_way=gives_way)
    return lambda declaration: Declared(declaration, made, check)


def table_of(*kinds: type) -> MethodTable:
    """All that classes declare, in their order."""
    return MethodTable(each.method for kind in kinds for each in vars(kind).values() if isinstance(each, Declared))
