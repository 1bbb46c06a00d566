"""The checksum of the bytes that go through one end."""

import hashlib
from collections.abc import Callable

from attrs import define, field

from ganeti_tx.node.transfer.connection import TransferError

Reader = Callable[[], bytes]
Writer = Callable[[bytes], object]


@define
class Checksum:
    """Follows a reader or a writer. @ivar wanted: see `Spec.sha256`."""

    wanted: str | None
    _sum: "hashlib._Hash" = field(factory=hashlib.sha256)

    def reading(self, read: Reader) -> Reader:
        """The same, and counted."""
        return read if self.wanted is None else lambda: self._with(read())

    def writing(self, write: Writer) -> Writer:
        """The same, and counted."""
        return write if self.wanted is None else lambda block: write(self._with(block))

    def _with(self, block: bytes) -> bytes:
        self._sum.update(block)
        return block

    def told(self) -> str:
        """What it is, if anybody wants to know. @raise TransferError: it is not as it must be."""
        if self.wanted is None:
            return ""
        found = self._sum.hexdigest()
        if self.wanted and self.wanted != found:
            raise TransferError(f"what was read is damaged: its SHA-256 is {found}, and was {self.wanted:.64}")
        return found
