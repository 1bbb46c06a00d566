"""Logins that were right a moment ago, so that a client who asks every second pays for his password once a while."""

import hashlib
import hmac
from collections import OrderedDict
from typing import Generic, TypeVar

from attrs import define, field
from twisted.internet.interfaces import IReactorTime

T = TypeVar("T")

MAX_ENTRIES = 1000


@define
class Memo(Generic[T]):
    """Values for a time, found by a hash that nobody can compute without the key of this process.

    No password is kept, and none can be guessed from what is kept.
    """

    clock: IReactorTime
    _secret: bytes = field(repr=False)
    _entries: OrderedDict[bytes, tuple[float, T]] = field(factory=OrderedDict, init=False, repr=False)

    def key(self, *parts: str) -> bytes:
        """The hash of some texts; texts cut at other places give another."""
        digest = hmac.new(self._secret, digestmod=hashlib.sha256)
        for part in parts:
            data = part.encode()
            digest.update(len(data).to_bytes(8, "big") + data)
        return digest.digest()

    def get(self, key: bytes) -> T | None:
        """What was remembered, if its time is not over."""
        until, value = self._entries.get(key, (0.0, None))
        if value is not None and until > self.clock.seconds():
            self._entries.move_to_end(key)
            return value
        self._entries.pop(key, None)
        return None

    def remember(self, key: bytes, value: T, seconds: float) -> None:
        """Keep a value so long; when there are too many, the one not asked for longest goes."""
        self._entries[key] = (self.clock.seconds() + seconds, value)
        self._entries.move_to_end(key)
        if len(self._entries) > MAX_ENTRIES:
            self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget all."""
        self._entries.clear()
