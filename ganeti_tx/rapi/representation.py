"""What is sent for one state of a resource, with its tag; compressed once, however many clients ask."""

import zlib

from attrs import define, field

from ganeti_tx.rapi.answers import render
from ganeti_tx.rapi.etag import tag_of
from ganeti_tx.runtime.threads import IThreads

#: Smaller bodies gain nothing: they go in one packet anyway.
WORTH_IT = 1200
#: From here on compressing takes so long that it is done in a thread.
LONG = 64 * 1024
#: zlib's fastest; the others take several times as long for a tenth less.
LEVEL = 1
#: zlib's way to ask for gzip's header.
GZIP_WINDOW = 16 + zlib.MAX_WBITS


@define(eq=False)
class Representation:
    """JSON and its tag, without quotes."""

    body: bytes
    tag: str
    _compressed: bytes | None = field(default=None, init=False)

    @classmethod
    def of(cls, value: object) -> "Representation":
        """Of what an operation gave."""
        body = render(value)
        return cls(body, tag_of(value, body))

    @property
    def size(self) -> int:
        """What it takes to remember it, in bytes."""
        return len(self.body) + len(self._compressed or b"")

    async def compressed(self, threads: IThreads) -> bytes | None:
        """The body in gzip; None when it is not worth it."""
        if len(self.body) < WORTH_IT:
            return None
        if self._compressed is None:
            self._compressed = await threads.run(compress, self.body) if len(self.body) >= LONG else compress(self.body)
        return self._compressed


def compress(body: bytes) -> bytes:
    """In gzip."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP_WINDOW)
    return packer.compress(body) + packer.flush()
