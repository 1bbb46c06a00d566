"""The kinds of operations: each is declared from a function over what it works on; the kind says what stays of it."""

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar, get_args, get_type_hints

from ganeti_tx.config.call import Repeat
from ganeti_tx.config.distribution import Distribution
from ganeti_tx.config.edit import Change
from ganeti_tx.config.operation import Effect, Operation
from ganeti_tx.config.reader import Reader
from ganeti_tx.config.reserving import Reserving
from ganeti_tx.config.session import Session

P = ParamSpec("P")
T = TypeVar("T")


def reading(name: str, read: Callable[Concatenate[Reader, P], T]) -> Operation[P, T]:
    """What is answered from the configuration on disk."""

    async def work(session: Session, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return read(session.reader, *args, **kwargs)

    return Operation(name, read, work)


def changing(name: str, change: Callable[P, Change[T]], *, repeat: Repeat = Repeat.NEVER) -> Operation[P, T]:
    """What changes the configuration; it is on disk when the caller hears of it.

    @raise ConfigurationError: the change would make the configuration inconsistent; nothing was changed.
    """

    async def work(session: Session, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await session.change(change(*args, **kwargs))

    [result] = get_args(get_type_hints(change)["return"])
    return Operation(name, change, work, given_by_others=0, result=result, effect=Effect.CHANGED, repeat=repeat)


def reserving(
    name: str, reserve: Callable[Concatenate[Reserving, P], T], *, effect: Effect = Effect.RESERVED
) -> Operation[P, T]:
    """What is kept for its owner alone; what an answer that was lost had reserved is given back with the rest."""

    async def work(session: Session, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return reserve(session.reserving, *args, **kwargs)

    return Operation(name, reserve, work, effect=effect)


def distributing(
    name: str,
    distribute: Callable[Concatenate[Distribution, P], Coroutine[Any, Any, T]],
    *,
    effect: Effect = Effect.NOTHING,
    waits: bool = False,
) -> Operation[P, T]:
    """What has to do with the copies on other nodes."""

    async def work(session: Session, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await distribute(session.distribution, *args, **kwargs)

    return Operation(name, distribute, work, effect=effect, waits=waits)
