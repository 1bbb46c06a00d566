"""Answers that the server need not send again while they are true (ETag and If-None-Match)."""

from collections import OrderedDict
from threading import Lock

from attrs import define, evolve, field

from ganeti_tx.rapi_client.message import Message, Reply

#: Bytes of answers that a client keeps, those asked for longest ago going first.
SIZE = 8 * 1024 * 1024


@define
class Cache:
    """The last answers by target; for several threads."""

    size: int = SIZE
    _held: int = 0
    _replies: OrderedDict[str, Reply] = field(factory=OrderedDict)
    _lock: Lock = field(factory=Lock)

    def known(self, message: Message) -> Reply | None:
        """The answer that is here already."""
        return self._replies.get(message.target) if _may_be_kept(message) else None

    def settled(self, message: Message, known: Reply | None, reply: Reply) -> Reply:
        """The reply that the request gets: the one that was known when it was sent, while that is still true, else the
        new one, kept if it may be. Meanwhile other requests may have had other answers."""
        if not _may_be_kept(message):
            return reply
        kept = known if known is not None and reply.status == 304 else reply
        with self._lock:
            self._put(message.target, kept)
        return kept

    def _put(self, target: str, reply: Reply) -> None:
        earlier = self._replies.pop(target, None)
        if earlier is not None:
            self._held -= len(earlier.body)
        if reply.status == 200 and "etag" in reply.headers and len(reply.body) <= self.size:
            self._replies[target] = reply
            self._held += len(reply.body)
        while self._held > self.size:
            _, oldest = self._replies.popitem(last=False)
            self._held -= len(oldest.body)


def conditional(message: Message, known: Reply | None) -> Message:
    """The request, telling the server which answer is here already."""
    if known is None:
        return message
    return evolve(message, headers=(*message.headers, ("If-None-Match", known.headers["etag"])))


def _may_be_kept(message: Message) -> bool:
    return message.method == "GET" and message.safe and message.body is None
