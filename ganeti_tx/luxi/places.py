"""The connections of one server and the room that they take: who must go when there are too many, or they hold too much.

Connections belong to processes, as the kernel tells. Whatever runs out, the process that takes most of it is evicted
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


class ConnectedClient(Protocol):
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
    """What each client holds of something that there is only so much of, in bytes."""

    limit: int
    total: int = 0
    _held: dict[ConnectedClient, int] = field(factory=dict)

    def set(self, client: ConnectedClient, size: int) -> None:
        """The client holds so much now."""
        self.total += size - self._held.pop(client, 0)
        if size:
            self._held[client] = size

    def too_much(self, spared: ConnectedClient | None = None) -> ConnectedClient | None:
        """While it is too much: who holds most of the process that holds most, save one."""
        if self.total <= self.limit:
            return None
        others = {client: size for client, size in self._held.items() if client is not spared}
        by_process: Counter[int | None] = Counter()
        for client, size in others.items():
            by_process[client.process] += size
        return max(others, key=lambda client: (by_process[client.process], others[client]), default=None)


@define(eq=False)
class Places:
    """All clients of a server."""

    limits: Limits
    clock: IReactorTime
    clients: set[ConnectedClient] = field(factory=set)
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
        return len(self.clients)

    def join(self, client: ConnectedClient) -> str | None:
        """Take a new client in, in place of one that rests if need be; else why it cannot be."""
        refusal = self._make_room(client.process)
        if refusal is not None:
            self._tell("{reason}", reason=refusal)
            return refusal
        self.clients.add(client)
        self._processes[client.process] += 1
        return None

    def left(self, client: ConnectedClient) -> None:
        """A client is gone; one that was never taken in is no error."""
        self.requests.set(client, 0)
        self.answers.set(client, 0)
        if client in self.clients:
            self.clients.discard(client)
            self._processes[client.process] -= 1
            if not self._processes[client.process]:
                del self._processes[client.process]

    def pause(self, client: ConnectedClient) -> float:
        """For how many seconds a client shall leave the daemon to others before its next request is carried out."""
        return self.share.pause(client.process) if len(self._processes) > 1 else 0.0

    def holds_requests(self, client: ConnectedClient, size: int) -> None:
        """What a client has sent takes so much room; if that is too much in all, somebody is refused."""
        self.requests.set(client, size)
        while (greedy := self.requests.too_much()) is not None:
            self._tell("requests take too much room; process {process} is refused", process=greedy.process)
            self.requests.set(greedy, 0)
            greedy.refuse(TOO_MUCH.format(limit=self.requests.limit // MIB))

    def holds_answer(self, client: ConnectedClient, size: int) -> None:
        """An answer waits to be read; if that is too much in all, somebody else who does not read is dropped."""
        self.answers.set(client, size)
        while (slow := self.answers.too_much(spared=client)) is not None:
            self._tell("answers are not read by process {process}; it is dropped", process=slow.process)
            self.answers.set(slow, 0)
            slow.drop()

    def _make_room(self, process: int | None) -> str | None:
        """Why there is no room for one more connection of a process; None when there is, or somebody left for it."""
        most, mine = self.limits.connections, self._processes[process] if process is not None else 0
        if mine >= max(1, int(most * SHARE)):
            own = [client for client in self.clients if client.process == process]
            return None if self._evict(own) else TOO_MANY.format(process=process, count=mine)
        if len(self.clients) < most or self._evict(self.clients):
            return None
        return FULL.format(count=most)

    def _evict(self, clients: Iterable[ConnectedClient]) -> bool:
        """Let the client go that rests longest, of the process that has most connections; whether there was one."""
        now = self.clock.seconds()
        resting = {client: rest for client in clients if (rest := client.resting(now)) is not None}
        if not resting:
            return False
        idlest = max(resting, key=lambda client: (self._processes[client.process], resting[client]))
        self._tell("a connection of process {process} is evicted for another", process=idlest.process)
        self.left(idlest)
        idlest.leave()
        return True

    def _tell(self, text: str, **values: object) -> None:
        """Write it into the log, but not all the time."""
        key, now = text, self.clock.seconds()
        if now - self._told.get(key, -QUIET) >= QUIET:
            self._told[key] = now
            log.warn(text, **values)
