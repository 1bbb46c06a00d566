"""Reads which data a side has: what `drbdsetup get-gi` prints."""

import re

from attrs import frozen

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.mirror_state import NEVER_FILLED

_LINE = re.compile(r"([0-9A-F]{16}):([0-9A-F]{16}):([0-9A-F]{16}):([0-9A-F]{16})(?::[01]){7}", re.IGNORECASE)


@frozen
class Generations:
    """Identifiers of the data: the present ones, those that the other side had when it was last there, former ones."""

    current: int
    bitmap: int
    history: tuple[int, int]

    @property
    def is_new(self) -> bool:
        """Whether nothing was ever written."""
        return self.current == NEVER_FILLED

    @property
    def words(self) -> list[str]:
        """As others are told."""
        return [f"{each:016X}" for each in (self.current, self.bitmap, *self.history)]


def parse_generations(text: str) -> Generations:
    """@raise BlockDeviceError: it is not what drbdsetup prints."""
    match = _LINE.fullmatch(text.strip())
    if match is None:
        raise BlockDeviceError(f"cannot read what drbdsetup get-gi prints: {text[:100]!r}")
    current, bitmap, younger, older = (int(each, 16) for each in match.groups())
    return Generations(current, bitmap, (younger, older))
