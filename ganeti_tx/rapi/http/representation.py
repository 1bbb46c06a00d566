"""What is sent for one state of a resource, with its tag; compressed once, however many clients ask."""

import zlib

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from ganeti_tx.rapi.http.answers import JSON, Document, render
from ganeti_tx.rapi.http.etag import digest, tag_of
from ganeti_tx.runtime.threads import IThreads

#: Smaller bodies gain nothing: they go in one packet anyway.
WORTH_IT = 1200
#: From here on compressing takes so long that it is done in a thread.
LONG = 64 * 1024
#: zlib's fastest; the others take several times as long for a tenth less.
LEVEL = 1
#: zlib's way to ask for gzip's header.
GZIP_WINDOW = 16 + zlib.MAX_WBITS


@define(eq=False, kw_only=True)
class Representation:
    """A body and its tag, without quotes."""

    body: bytes
    tag: str
    content_type: str = JSON
    _compressed: bytes | None = field(default=None, init=False)
    _waiting: list[Deferred[bytes]] = field(factory=list, init=False)

    @classmethod
    def of(cls, value: object) -> "Representation":
        """Of what an operation gave."""
        if isinstance(value, Document):
            return cls(body=value.body, tag=digest(value.body), content_type=value.content_type)
        body = render(value)
        return cls(body=body, tag=tag_of(value, body))

    async def compressed(self, threads: IThreads) -> bytes | None:
        """The body in gzip; None when it is not worth it."""
        if len(self.body) < WORTH_IT:
            return None
        if self._compressed is None and len(self.body) < LONG:
            self._compressed = compress(self.body)
        return self._compressed or await self._compressed_in_thread(threads)

    async def _compressed_in_thread(self, threads: IThreads) -> bytes:
        """Once, for all who wait for it."""
        waiting: Deferred[bytes] = Deferred()
        self._waiting.append(waiting)
        if len(self._waiting) == 1:
            threads.run(compress, self.body).addBoth(self._done)
        return await waiting

    def _done(self, result: bytes | Failure) -> None:
        if not isinstance(result, Failure):
            self._compressed = result
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if not each.called:  # else the client has gone
                each.callback(result)  # a Failure takes the error path by itself


def compress(body: bytes) -> bytes:
    """In gzip."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP_WINDOW)
    return packer.compress(body) + packer.flush()
