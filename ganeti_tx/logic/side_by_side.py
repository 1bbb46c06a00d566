"""Several things that are waited for at a time."""

from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

from twisted.internet.defer import Deferred, DeferredList

K = TypeVar("K")
T = TypeVar("T")


async def side_by_side(works: Mapping[K, Awaitable[T]]) -> dict[K, T]:
    """What each gives, once all of them are over. The first error is raised then, as when the job is stopped."""
    begun = {key: Deferred.fromCoroutine(_awaited(work)) for key, work in works.items()}
    found: list[tuple[bool, Any]] = await DeferredList(begun.values(), consumeErrors=True)
    for success, failure in found:
        if not success:
            failure.raiseException()
    return {key: given for key, (_, given) in zip(begun, found, strict=True)}


async def _awaited(work: Awaitable[T]) -> T:
    return await work
