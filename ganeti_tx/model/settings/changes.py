"""Settings that are changed bit by bit: each takes what is stored and the parameters, None where one was not given."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.settings.collectors import COLLECTORS, DEFAULT_COLLECTOR, DataCollector
from ganeti_tx.model.values import IdRange, ListAction

#: The last number that can be a user id.
LAST_ID = 2**32 - 1
MICROSECONDS = 1_000_000
Actions = Iterable[tuple[ListAction, str]]


def names(held: Sequence[str], actions: Actions | None) -> tuple[str, ...]:
    """A list of names after additions and removals; what is there already, or is not, is left as it is."""
    after = list(held)
    for action, name in actions or ():
        if is_addition(action) and name not in after:
            after.append(name)
        elif not is_addition(action) and name in after:
            after.remove(name)
    return tuple(after)


def is_addition(action: ListAction) -> bool:
    """Whether the name shall be in the list afterwards."""
    return action in (ListAction.ADD, ListAction.ATTACH)


def uid_pool(
    held: Sequence[IdRange],
    whole: Sequence[IdRange] | None,
    added: Sequence[IdRange] | None = None,
    removed: Sequence[IdRange] | None = None,
) -> tuple[IdRange, ...]:
    """The ranges of user ids after a replacement, additions and removals.

    @raise OpPrereqError: a range is no range, overlaps another, or to be removed is not there; or one that is given has
        root's id, which may only be left from before, or go.
    """
    pool = list(held if whole is None else whole)
    for low, high in (*(whole or ()), *(added or ())):
        if low == 0 <= high:
            raise OpPrereqError(
                f"uid_pool: {low}-{high} has 0, the id of root, as whom no instance may run; allowed are 1 to {LAST_ID}",
                ECode.INVAL,
            )
    for low, high in (*(added or ()), *(removed or ()), *pool):
        if not 0 <= low <= high <= LAST_ID:
            raise OpPrereqError(
                f"uid_pool: {low}-{high} is no range of user ids; allowed are 1 to {LAST_ID}", ECode.INVAL
            )
    pool.extend(added or ())
    for low, high in removed or ():
        pool = without_range(pool, low, high)
    pool.sort()
    for (_, end), (start, high) in pairwise(pool):
        if start <= end:
            given = f"{start}-{high}" if start < high else f"{start}"
            raise OpPrereqError(f"uid_pool: {given} overlaps another range, which ends at {end}", ECode.INVAL)
    return tuple(pool)


def without_range(pool: Sequence[IdRange], low: int, high: int) -> list[IdRange]:
    """The pool with a part of one of its ranges cut out."""
    for held in pool:
        if held[0] <= low and high <= held[1]:
            left = [(held[0], low - 1), (high + 1, held[1])]
            return [each for each in pool if each != held] + [part for part in left if part[0] <= part[1]]
    raise OpPrereqError(f"uid_pool: {low}-{high} cannot be removed, the pool does not hold it", ECode.INVAL)


def collectors(
    held: Mapping[str, DataCollector], active: Mapping[str, bool] | None, interval: Mapping[str, int] | None
) -> dict[str, DataCollector]:
    """Which collectors run, and how often; clusters of older versions do not name them all."""
    after = {**dict.fromkeys(COLLECTORS, DEFAULT_COLLECTOR), **held}
    for name in (*(active or ()), *(interval or ())):
        if name not in after:
            raise OpPrereqError(
                f"data collector {name!r} is not known; there are {', '.join(sorted(after))}", ECode.INVAL
            )
    for name, wanted in (active or {}).items():
        after[name] = replace(after[name], active=wanted)
    for name, span in (interval or {}).items():
        if span < MICROSECONDS:
            raise OpPrereqError(f"data collector {name!r}: {span} microseconds is less than a second", ECode.INVAL)
        after[name] = replace(after[name], interval=span)
    return after
