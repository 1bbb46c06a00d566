"""What is to be done for the instances of a group, from what was seen and remembered alone (Ganeti 3.0 watcher table)."""

from collections.abc import Collection, Iterable, Mapping

from attrs import frozen

from ganeti_tx.watcher.state import Tries

#: How often an instance is started in a row, and after how many seconds without a try it may be tried anew.
MAX_TRIES = 5
EXPIRY = 8 * 3600.0
#: The states in which an instance that should run does not, as nobody wanted; and that of one whose user has ended it.
DOWN, USER_DOWN, RUNNING = "ERROR_down", "USER_down", "running"


@frozen(kw_only=True)
class SeenInstance:
    """One instance as it was found."""

    name: str
    status: str
    #: Whether it is meant to run.
    marked_up: bool = True
    secondaries: tuple[str, ...] = ()


def forget(tries: Mapping[str, Tries], seen: Collection[SeenInstance], now: float) -> dict[str, Tries]:
    """The tries that still count: those of instances that do not run yet, unless the last is long ago."""
    down = {instance.name for instance in seen if instance.status == DOWN}
    return {name: each for name, each in tries.items() if name in down and now - each.last < EXPIRY}


def to_start(seen: Iterable[SeenInstance], tries: Mapping[str, Tries], busy: Collection[int]) -> list[str]:
    """The instances to start now. @param busy: the jobs of former tries that have not ended."""
    return [
        instance.name
        for instance in seen
        if instance.status == DOWN and instance.marked_up and not _spent(tries.get(instance.name), busy)
    ]


def _spent(tries: Tries | None, busy: Collection[int]) -> bool:
    return tries is not None and (tries.count >= MAX_TRIES or tries.job in busy)


def given_up(seen: Iterable[SeenInstance], tries: Mapping[str, Tries]) -> list[str]:
    """The instances that did not come up however often they were started."""
    return [
        each.name for each in seen if each.status == DOWN and each.name in tries and tries[each.name].count >= MAX_TRIES
    ]


def to_clean(seen: Iterable[SeenInstance]) -> list[str]:
    """The instances whose users have shut them down from inside, which the configuration does not know yet."""
    return [instance.name for instance in seen if instance.status == USER_DOWN and instance.marked_up]


def rebooted(boots: Mapping[str, str], remembered: Mapping[str, str]) -> set[str]:
    """The nodes that were booted since they were last seen; one that was never seen counts as such."""
    return {node for node, boot in boots.items() if remembered.get(node) != boot}


def to_activate(seen: Iterable[SeenInstance], nodes: set[str]) -> list[str]:
    """The running instances that have their second half on one of some nodes; others get theirs when they start."""
    return [each.name for each in seen if each.status == RUNNING and not nodes.isdisjoint(each.secondaries)]
