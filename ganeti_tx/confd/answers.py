"""The answers of one state of the configuration, kept encoded: what differs between two replies is only the salt."""

from typing import Protocol

from attrs import define, field
from twisted.logger import Logger

from ganeti_tx.confd.codec import Body
from ganeti_tx.confd.messages import MAX_MESSAGE, ErrorCode, Reply, RequestType, Status
from ganeti_tx.confd.queries import refusal, reply_to
from ganeti_tx.confd.view import View

log = Logger()

#: So many answers are kept, and so many bytes of them.
MAX_KEPT = 4096
MAX_KEPT_BYTES = 8 * 1024 * 1024
KNOWN = {int(kind): kind for kind in RequestType}


class IAnswers(Protocol):
    """What a request is answered from."""

    def body(self, kind: int, query: bytes) -> Body | None:
        """The reply's message for a request with a query in JSON; None when there is no such request."""


@define
class Answers:
    """Answers from a view."""

    view: View
    _kept: dict[tuple[int, bytes], Body] = field(factory=dict, init=False)
    _bytes: int = field(default=0, init=False)

    def body(self, kind: int, query: bytes) -> Body | None:
        """As IAnswers says."""
        kept = self._kept.get((kind, query))
        if kept is None and kind in KNOWN:
            kept = self._made(KNOWN[kind], query)
            self._keep((kind, query), kept)
        return kept

    def _made(self, kind: RequestType, query: bytes) -> Body:
        try:
            body = Body.of(reply_to(self.view, kind, query))
        except Exception:  # a fault of ours in one answer; it is kept, so it is told once
            log.failure("fault in the answer to {kind}", kind=kind.name)
            return Body.of(Reply(status=Status.ERROR, answer=ErrorCode.INTERNAL, serial=self.view.serial))
        if len(body.text) <= MAX_MESSAGE:
            return body
        return Body.of(
            refusal(f"the answer has {len(body.text)} bytes, a datagram holds {MAX_MESSAGE}: ask for a part of it")
        )

    def _keep(self, key: tuple[int, bytes], body: Body) -> None:
        self._kept[key] = body
        self._bytes += size_of(key, body)
        while len(self._kept) > MAX_KEPT or self._bytes > MAX_KEPT_BYTES:
            oldest = next(iter(self._kept))
            self._bytes -= size_of(oldest, self._kept.pop(oldest))


def size_of(key: tuple[int, bytes], body: Body) -> int:
    """The bytes that an answer keeps."""
    return len(key[1]) + len(body.msg) + len(body.text)


class NoAnswers:
    """There is no configuration to answer from: every request that is known is told why."""

    def __init__(self, reason: str) -> None:
        self._body = Body.of(refusal(reason))

    def body(self, kind: int, query: bytes) -> Body | None:
        """As IAnswers says."""
        return self._body if kind in KNOWN else None
