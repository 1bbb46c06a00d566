"""How often somebody may guess.

An address has so many failures, and gets them back slowly. A name that is guessed at from many addresses leaves each
address one failure for it instead of all: guessing gets slow, yet nobody can lock its owner out from elsewhere, since
an address that has not failed for the name may always try.
"""

from collections import OrderedDict
from http import HTTPStatus
from ipaddress import IPv6Address

from attrs import define, field
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ganeti_tx.model.ip_address import parsed, parsed_range6
from ganeti_tx.rapi.http.http_errors import HttpError

log = Logger()

#: Failures an address may have, and the seconds after which it may have one more.
ADDRESS_FAILURES = 10
ADDRESS_REFILL = 30.0
#: Failures for one name, from everywhere, from which on it counts as attacked; and the seconds that forgive one.
NAME_FAILURES = 30
NAME_REFILL = 30.0
#: Seconds that an address waits after a failure for a name under attack.
PAIR_REFILL = 300.0
#: Addresses, names and pairs remembered, of each.
MAX_REMEMBERED = 10_000
#: All that is remembered of a name; longer ones are nobody's.
MAX_NAME = 256


@define
class _Count:
    """Failures that fade: `taken` at a time, one less every `refill` seconds."""

    taken: float
    at: float
    told: bool = False

    def left_at(self, now: float, refill: float) -> float:
        """What has not faded yet."""
        return max(0.0, self.taken - (now - self.at) / refill)


@define
class Counts:
    """Fading failures by key; the key not touched for longest is evicted first when there are too many."""

    clock: IReactorTime
    limit: int
    refill: float
    remembered: int
    _counts: OrderedDict[str, _Count] = field(factory=OrderedDict, init=False)

    def wait(self, key: str) -> float:
        """Seconds until one more failure has room; 0 when it has."""
        count = self._counts.get(key)
        if count is None:
            return 0.0
        over = count.left_at(self.clock.seconds(), self.refill) - (self.limit - 1)
        return max(0.0, over * self.refill)

    def add(self, key: str, number: int = 1) -> None:
        """One more, or one less."""
        now = self.clock.seconds()
        count = self._counts.setdefault(key, _Count(0.0, now))
        left = count.left_at(now, self.refill)
        count.taken, count.at, count.told = max(0.0, left + number), now, count.told and left >= 1
        self._counts.move_to_end(key)
        if count.taken == 0:
            del self._counts[key]
        elif len(self._counts) > self.remembered:
            self._counts.popitem(last=False)

    def tell_once(self, key: str) -> bool:
        """Whether this is the first time since the key had no failures."""
        count = self._counts[key]
        was_told, count.told = count.told, True
        return not was_told


@define
class Throttle:
    """Counts each attempt as failed from its start, so that many at once do not slip through; success takes it back."""

    clock: IReactorTime
    remembered: int = MAX_REMEMBERED
    _addresses: Counts = field(init=False)
    _names: Counts = field(init=False)
    _pairs: Counts = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._addresses = Counts(self.clock, ADDRESS_FAILURES, ADDRESS_REFILL, self.remembered)
        self._names = Counts(self.clock, NAME_FAILURES, NAME_REFILL, self.remembered)
        self._pairs = Counts(self.clock, 1, PAIR_REFILL, self.remembered)

    def begin(self, peer: str, name: str) -> "Attempt":
        """An attempt to log in starts. @raise HttpError: 429, it must wait."""
        address, name = network_of(peer), name[:MAX_NAME].casefold()  # directories see no difference
        pair = f"{address} {name}"
        self._check(self._addresses, address, f"Too many failed logins from {address}")
        if self._names.wait(name):
            self._check(self._pairs, pair, f"Too many failed logins as {name!r}")
        for counts, key in ((self._addresses, address), (self._names, name), (self._pairs, pair)):
            counts.add(key)
        return Attempt(throttle=self, address=address, name=name, pair=pair)

    def take_back(self, attempt: "Attempt") -> None:
        """It did not fail."""
        self._addresses.add(attempt.address, -1)
        self._names.add(attempt.name, -1)
        self._pairs.add(attempt.pair, -1)

    def _check(self, counts: Counts, key: str, message: str) -> None:
        wait = counts.wait(key)
        if not wait:
            return
        seconds = int(wait) + 1
        if counts.tell_once(key):
            log.warn("{message}: refused for {seconds} seconds, and as long as it goes on", message=message,
                     seconds=seconds)  # fmt: skip
        raise HttpError(HTTPStatus.TOO_MANY_REQUESTS, message, {"Retry-After": str(seconds)})


@define(kw_only=True)
class Attempt:
    """One attempt to log in."""

    throttle: Throttle
    address: str
    name: str
    pair: str

    def take_back(self) -> None:
        """It was right, or nobody could tell."""
        self.throttle.take_back(self)


def network_of(peer: str) -> str:
    """What counts as one address: with IPv6 the /64 that everybody has to himself."""
    try:
        address = parsed(peer.partition("%")[0])
    except ValueError:
        return peer
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(parsed_range6(f"{address}/64", strict=False))
    return str(address)
