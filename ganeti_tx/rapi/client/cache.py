"""Answers that the server need not send again while they are true (ETag and If-None-Match)."""

from collections import OrderedDict

from attrs import define, evolve, field

from ganeti_tx.rapi.client.message import Message, Reply

#: Bytes of answers that a client keeps, those asked for longest ago going first.
SIZE = 8 * 1024 * 1024


@define
class Cache:
    """The last answers by target."""

    size: int = SIZE
    _held: int = 0
    _replies: OrderedDict[str, Reply] = field(factory=OrderedDict)

    def conditional(self, message: Message) -> Message:
        """The request, telling the server which answer is here already."""
        known = self._replies.get(message.target) if _may_be_kept(message) else None
        if known is None:
            return message
        return evolve(message, headers=(*message.headers, ("If-None-Match", known.headers["etag"])))

    def settled(self, message: Message, reply: Reply) -> Reply:
        """The reply that the request gets: the kept one when it is still true, else the new one, kept if it may be."""
        if not _may_be_kept(message):
            return reply
        known = self._replies.pop(message.target, None)
        if known is not None:
            self._held -= len(known.body)
        kept = known if known is not None and reply.status == 304 else reply
        if kept.status == 200 and "etag" in kept.headers and len(kept.body) <= self.size:
            self._replies[message.target] = kept
            self._held += len(kept.body)
        while self._held > self.size:
            _, oldest = self._replies.popitem(last=False)
            self._held -= len(oldest.body)
        return kept


def _may_be_kept(message: Message) -> bool:
    return message.method == "GET" and message.safe and message.body is None
