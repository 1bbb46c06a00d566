"""Which collectors run, and how often: what the cluster's settings say, of those that make sense on its nodes."""

from collections.abc import Callable, Collection, Mapping, Sequence

from attrs import define, field
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.model.hypervisors import HYPERVISORS, hypervisors_of
from ganeti_tx.model.settings.collectors import DEFAULT_COLLECTOR, DataCollector
from ganeti_tx.mond.envelope import category_in_urls
from ganeti_tx.mond.interfaces import ICollector
from ganeti_tx.mond.run import Run

MICROSECONDS = 1_000_000
#: Seconds; what a setting says below it is not heard.
SHORTEST_INTERVAL = 1.0
#: What each collector of instances needs one of; others run with any hypervisor.
NEEDS: Mapping[str, frozenset[str]] = {
    name: hypervisors_of(name) for kind in HYPERVISORS.values() for name in kind.collectors
}


@define
class Schedule:
    """All collectors that there are, and the runs of those that are active. @ivar now: nanoseconds since the epoch."""

    collectors: Sequence[ICollector]
    clock: IReactorTime
    now: Callable[[], int]
    runs: dict[str, Run] = field(init=False)
    _active: list[str] = field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self.runs = {each.name: Run(each, self.clock, self.now) for each in self.collectors}

    def apply(self, settings: Mapping[str, DataCollector], hypervisors: Collection[str]) -> None:
        """Run what is active in the settings and fits the enabled hypervisors; stop what ran and is not.

        What the settings do not name, as those of a cluster that was made before a collector was there, is active.
        """
        self._active = []
        for name, run in self.runs.items():
            setting = settings.get(name, DEFAULT_COLLECTOR)
            if setting.active and fits(name, hypervisors):
                self._active.append(name)
                run.every(max(SHORTEST_INTERVAL, setting.interval / MICROSECONDS))
            else:
                run.stop()

    def stop(self) -> None:
        """Run nothing any more."""
        self._active = []
        for run in self.runs.values():
            run.stop()

    def active(self) -> list[Run]:
        """The runs of the active collectors."""
        return [self.runs[name] for name in self._active]

    def find(self, category: str, name: str) -> Run | None:
        """The run of an active collector, when it is of that category."""
        run = self.runs[name] if name in self._active else None
        return run if run is not None and category_in_urls(run.collector) == category else None


def fits(name: str, hypervisors: Collection[str]) -> bool:
    """Whether a collector has something to look at where these hypervisors are enabled."""
    needed = NEEDS.get(name)
    return needed is None or not needed.isdisjoint(hypervisors)
