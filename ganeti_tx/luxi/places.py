"""The connections of one server and the room that they take: who must go when there are too many, or they hold too much.

Connections belong to processes, as the kernel tells. Whatever runs out, the process that takes most of it gives way
first; so a program that opens a thousand connections, or sends a hundred requests that never end, is in its own way only.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from attrs import define, field
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ganeti_tx.luxi.fair_share import FairShare
from ganeti_tx.luxi.limits import MIB, Limits

log = Logger()

#: One process may take this part of all connections; the rest is for others.
SHARE = 0.75
#: Seconds between two lines in the log about the same.
QUIET = 10.0

FULL = "Too many connections, try again later: all {count} are busy"
TOO_MANY = "Too many connections, try again later: process {process} has {count} that are busy"
TOO_MUCH = "Requests take too much room together ({limit} MiB), try again later"


class Guest(Protocol):
    """One connection, as far as its place goes."""

    @property
    def process(self) -> int | None:
        """The process id of the client, if it is known."""

    def resting(self, now: float) -> float | None:
        """For how many seconds nothing has been done for it; None while it is being served, or has just been."""

    def leave(self) -> None:
        """Hang up, since somebody else needs the place."""

    def refuse(self, reason: str) -> None:
        """Give up what was asked, say why, and hang up."""

    def drop(self) -> None:
        """Hang up at once."""


@define(eq=False, kw_only=True)
class Holdings:
    """What each guest holds of something that there is only so much of, in bytes."""

    limit: int
    total: int = 0
    _held: dict[Guest, int] = field(factory=dict)

    def set(self, guest: Guest, size: int) -> None:
        """The guest holds so much now."""
        self.total += size - self._held.pop(guest, 0)
        if size:
            self._held[guest] = size

    def too_much(self, spared: Guest | None = None) -> Guest | None:
        """While it is too much: who holds most of the process that holds most, save one."""
        if self.total <= self.limit:
            return None
        others = {guest: size for guest, size in self._held.items() if guest is not spared}
        by_process: Counter[int | None] = Counter()
        for guest, size in others.items():
            by_process[guest.process] += size
        return max(others, key=lambda guest: (by_process[guest.process], others[guest]), default=None)


@define(eq=False)
class Places:
    """All guests of a server."""

    limits: Limits
    clock: IReactorTime
    guests: set[Guest] = field(factory=set)
    requests: Holdings = field(init=False)
    answers: Holdings = field(init=False)
    share: FairShare = field(init=False)
    _processes: Counter[int | None] = field(factory=Counter)
    _told: dict[str, float] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.requests = Holdings(limit=self.limits.requests_size)
        self.answers = Holdings(limit=self.limits.answers_size)
        self.share = FairShare(self.clock, self.limits.burst)

    def __len__(self) -> int:
        return len(self.guests)

    def join(self, guest: Guest) -> str | None:
        """Take a new guest in, in place of one that rests if need be; else why it cannot be."""
        refusal = self._make_room(guest.process)
        if refusal is not None:
            self._tell("{reason}", reason=refusal)
            return refusal
        self.guests.add(guest)
        self._processes[guest.process] += 1
        return None

    def left(self, guest: Guest) -> None:
        """A guest is gone; one that was never taken in is no error."""
        self.requests.set(guest, 0)
        self.answers.set(guest, 0)
        if guest in self.guests:
            self.guests.discard(guest)
            self._processes[guest.process] -= 1
            if not self._processes[guest.process]:
                del self._processes[guest.process]

    def pause(self, guest: Guest) -> float:
        """For how many seconds a guest shall leave the daemon to others before its next request is carried out."""
        return self.share.pause(guest.process) if len(self._processes) > 1 else 0.0

    def holds_requests(self, guest: Guest, size: int) -> None:
        """What a guest has sent takes so much room; if that is too much in all, somebody is refused."""
        self.requests.set(guest, size)
        while (greedy := self.requests.too_much()) is not None:
            self._tell("requests take too much room; process {process} is refused", process=greedy.process)
            self.requests.set(greedy, 0)
            greedy.refuse(TOO_MUCH.format(limit=self.requests.limit // MIB))

    def holds_answer(self, guest: Guest, size: int) -> None:
        """An answer waits to be read; if that is too much in all, somebody else who does not read is dropped."""
        self.answers.set(guest, size)
        while (slow := self.answers.too_much(spared=guest)) is not None:
            self._tell("answers are not read by process {process}; it is dropped", process=slow.process)
            self.answers.set(slow, 0)
            slow.drop()

    def _make_room(self, process: int | None) -> str | None:
        """Why there is no room for one more connection of a process; None when there is, or somebody left for it."""
        most, mine = self.limits.connections, self._processes[process] if process is not None else 0
        if mine >= max(1, int(most * SHARE)):
            own = [guest for guest in self.guests if guest.process == process]
            return None if self._send_away(own) else TOO_MANY.format(process=process, count=mine)
        if len(self.guests) < most or self._send_away(self.guests):
            return None
        return FULL.format(count=most)

    def _send_away(self, guests: Iterable[Guest]) -> bool:
        """Let the guest go that rests longest, of the process that has most connections; whether there was one."""
        now = self.clock.seconds()
        resting = {guest: rest for guest in guests if (rest := guest.resting(now)) is not None}
        if not resting:
            return False
        idlest = max(resting, key=lambda guest: (self._processes[guest.process], resting[guest]))
        self._tell("a connection of process {process} makes way for another", process=idlest.process)
        self.left(idlest)
        idlest.leave()
        return True

    def _tell(self, text: str, **values: object) -> None:
        """Write it into the log, but not all the time."""
        key, now = text, self.clock.seconds()
        if now - self._told.get(key, -QUIET) >= QUIET:
            self._told[key] = now
            log.warn(text, **values)
