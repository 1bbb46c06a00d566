"""One method of all clients: made from a function that gives the action, typed for clients that block and that wait."""

import functools
from collections.abc import Callable, Coroutine
from typing import Any, Generic, ParamSpec, TypeVar, overload

from ganeti_tx.rapi_client.message import Action

P = ParamSpec("P")
T = TypeVar("T")


class Blocking:
    """A client whose methods return when they are done."""

    def do(self, action: Action[T]) -> T:
        """Carry an action out. @raise ClientError"""
        raise NotImplementedError


class Waiting:
    """A client whose methods are coroutines."""

    async def do(self, action: Action[T]) -> T:
        """Carry an action out. @raise ClientError"""
        raise NotImplementedError


class Call(Generic[P, T]):
    """A method that carries out the action; on the class itself it is the function that gives the action."""

    def __init__(self, action: Callable[P, Action[T]]) -> None:
        self._action = action
        self.__doc__ = action.__doc__

    @overload
    def __get__(self, client: None, owner: object) -> Callable[P, Action[T]]: ...
    @overload
    def __get__(self, client: Blocking, owner: object) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Waiting, owner: object) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Any, owner: object) -> Any:
        action = self._action
        if client is None:
            return action

        @functools.wraps(action)
        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.do(action(*args, **kwargs))

        return method
