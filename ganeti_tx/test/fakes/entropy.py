"""Chance that repeats itself."""

from random import Random
from uuid import UUID

from zope.interface import implementer

from ganeti_tx.runtime.entropy import IEntropy


@implementer(IEntropy)
class SeededEntropy:
    """The same seed gives the same values in the same order."""

    def __init__(self, seed: int = 0) -> None:
        self._random = Random(seed)

    def uuid(self) -> str:
        """See `IEntropy`."""
        return str(UUID(bytes=self.random_bytes(16), version=4))

    def random_bytes(self, count: int) -> bytes:
        """See `IEntropy`."""
        return self._random.randbytes(count)
