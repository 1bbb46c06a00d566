"""Many seeds, over several processes; and what to say of them."""

import gc
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from attrs import define, field

from ganeti_tx.test.inprocess.chaos.life import Outcome, live
from ganeti_tx.test.inprocess.node_keys import cluster_keys, keys_of

#: Seeds that one process lives through. What has died in a simulation is never collected, so a process must end.
CHUNK = 25


@define
class Campaign:
    """The sum of many outcomes."""

    seeds: int = 0
    turns: int = 0
    seconds: float = 0.0
    faults: Counter[str] = field(factory=Counter)
    ends: Counter[str] = field(factory=Counter)
    broken: list[Outcome] = field(factory=list)

    def add(self, outcome: Outcome) -> None:
        """One more."""
        self.seeds += 1
        self.turns += outcome.turns
        self.faults += outcome.faults
        self.ends += outcome.ends
        if outcome.broken:
            self.broken.append(outcome)

    def summary(self) -> str:
        """A few lines."""
        rate = self.seeds / self.seconds if self.seconds else 0.0
        return (
            f"{self.seeds} seeds in {self.seconds:.1f} s ({rate:.1f} a second), {self.turns} events\n"
            f"faults: {counted(self.faults)}\njobs: {counted(self.ends)}\nbroken invariants: {len(self.broken)}"
        )


def counted(counter: Counter[str]) -> str:
    """What there was, most frequent first."""
    return ", ".join(f"{number} {name}" for name, number in counter.most_common()) or "none"


def run(
    seeds: Sequence[int],
    jobs: int,
    failed: Callable[[Outcome], None] = lambda outcome: None,
    changes: bool = False,
) -> Campaign:
    """Live through every seed; `failed` hears of each broken one at once."""
    campaign, begun = Campaign(), time.monotonic()
    for outcome in _outcomes(seeds, jobs, changes):
        campaign.add(outcome)
        if outcome.broken:
            failed(outcome)
    campaign.seconds = time.monotonic() - begun
    return campaign


def _outcomes(seeds: Sequence[int], jobs: int, changes: bool) -> Iterator[Outcome]:
    cluster_keys()
    for number in range(1, 5):
        keys_of(f"node{number}.example.com", f"192.0.2.{number}")  # once, before there are many processes
    chunks = [seeds[start : start + CHUNK] for start in range(0, len(seeds), CHUNK)]
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=1) as pool:
        for outcomes in pool.imap(partial(_live_all, changes), chunks):
            yield from outcomes


def _live_all(changes: bool, seeds: Sequence[int]) -> list[Outcome]:
    """In a process of its own."""
    gc.freeze()
    gc.disable()
    return [live(seed, changes=changes) for seed in seeds]
