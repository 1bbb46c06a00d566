"""Which jobs the filter rules let run now; those that must wait are set aside until that can change.

A job that is set aside costs nothing: a paused one is called when the rules change, a rate-limited one when there may
be room for it. Who is called is asked for again in its turn; till then nobody needs to be called for the same room.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from attrs import define, field
from twisted.logger import Logger

from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.queue.filters.rule_book import Action, Decision, Key, Limit, RuleBook, read_rules
from ganeti_tx.queue.job import QueuedJob

log = Logger()

Rules = Mapping[str, FilterRule]


@define
class Running:
    """A job that runs, and the limits whose room it takes."""

    job: QueuedJob
    limits: tuple[Limit, ...]


@define
class Admission:
    """Counts who runs under which limit. `rules` gives those of the newest configuration, by uuid.

    While somebody waits for room, as many as there is room for have been called.
    """

    rules: Callable[[], Rules]
    _known: Rules = field(factory=dict)
    _book: RuleBook = field(factory=RuleBook)
    _running: dict[int, Running] = field(factory=dict)
    _taken: Counter[Key] = field(factory=Counter)
    _paused: set[int] = field(factory=set)
    _waiting: dict[int, tuple[Limit, int]] = field(factory=dict)
    _lines: dict[Key, list[tuple[int, int]]] = field(factory=dict)
    _called_for: dict[int, Key] = field(factory=dict)
    _calls: Counter[Key] = field(factory=Counter)
    _to_ask: list[int] = field(factory=list)

    @property
    def rejects(self) -> bool:
        """Whether there is a rule that rejects."""
        return self._book.rejects

    def renew(self) -> bool:
        """Take in the rules of now; whether they are others. Then everybody who is set aside is called."""
        rules = self.rules()
        changed = rules is not self._known and rules != self._known
        self._known = rules
        if changed:
            self._book = read_rules(rules.values())
            for fault in self._book.faults:
                log.error("{fault}", fault=fault)
            self._begin_again()
        return changed

    def _begin_again(self) -> None:
        self._to_ask += [*self._paused, *self._waiting]
        for empty in (self._paused, self._waiting, self._lines, self._called_for, self._calls, self._taken):
            empty.clear()
        for running in self._running.values():
            running.limits = self._book.decide(running.job).limits
            self._taken.update(limit.key for limit in running.limits)

    def ask(self, job: QueuedJob) -> Decision | None:
        """What may be done with a job now: start it, or end it (REJECT); None when it has been set aside."""
        decision = self._book.decide(job)
        full = next((limit for limit in decision.limits if self._taken[limit.key] >= limit.most), None)
        if decision.action is not Action.PAUSE and full is None:
            return decision
        freed = self._forget(job.id)
        if full is None:
            self._paused.add(job.id)
        else:
            self._waiting[job.id] = (full, job.priority)
            heapq.heappush(self._lines.setdefault(full.key, []), (job.priority, job.id))
        self._call(freed)
        return None

    def runs(self, job: QueuedJob) -> None:
        """A job begins to run, or runs already, whatever the rules say of it now."""
        freed = self._forget(job.id)
        limits = self._book.decide(job).limits
        self._running[job.id] = Running(job, limits)
        self._taken.update(limit.key for limit in limits)
        self._call(freed)

    def over(self, job_id: int) -> None:
        """A job has ended, whether it ever ran or not."""
        self._call(self._forget(job_id))

    def called(self) -> list[int]:
        """The jobs that shall be asked for again, each told once; some may be gone meanwhile."""
        called, self._to_ask = self._to_ask, []
        return called

    def rejected_by(self, job: QueuedJob) -> FilterRule | None:
        """The rule that rejects a job, if one does."""
        decision = self._book.decide(job)
        return decision.rule if decision.action is Action.REJECT else None

    def _forget(self, job_id: int) -> set[Key]:
        """Drop all that is known of a job; gives the keys whose room it took or was called for."""
        keys = [limit.key for limit in self._running.pop(job_id).limits] if job_id in self._running else []
        less(self._taken, keys)
        calls = [self._called_for.pop(job_id)] if job_id in self._called_for else []
        less(self._calls, calls)
        self._paused.discard(job_id)
        self._waiting.pop(job_id, None)
        return {*keys, *calls}

    def _call(self, freed: Iterable[Key]) -> None:
        """Call the most urgent of those who wait for each room."""
        for key in sorted(freed):
            line = self._lines.get(key, [])
            while line:
                priority, job_id = line[0]
                limit, waits_at = self._waiting.get(job_id, (None, 0))
                if limit is None or limit.key != key or waits_at != priority:
                    heapq.heappop(line)  # it is not there any more
                elif self._taken[key] + self._calls[key] < limit.most:
                    heapq.heappop(line)
                    del self._waiting[job_id]
                    self._called_for[job_id] = key
                    self._calls[key] += 1
                    self._to_ask.append(job_id)
                else:
                    break
            if not line:
                self._lines.pop(key, None)


def less(counter: Counter[Key], keys: Iterable[Key]) -> None:
    """Count down; what comes to nothing is forgotten."""
    for key in keys:
        counter[key] -= 1
        if not counter[key]:
            del counter[key]
