"""Bytes between one guest and its node, in both directions: each is read once, and nobody waits for more."""

from attrs import define, field

#: Bytes that may wait to be read, each way.
MOST = 1024 * 1024


class Full(Exception):
    """What is there already has to be read before."""


@define
class Line:
    """One direction."""

    _waiting: bytearray = field(factory=bytearray)

    def write(self, data: bytes) -> None:
        """@raise Full: there is no room for all of it, and nothing was taken."""
        if len(self._waiting) + len(data) > MOST:
            raise Full
        self._waiting += data

    def read(self) -> bytes:
        """All that was written since the last time."""
        found = bytes(self._waiting)
        self._waiting.clear()
        return found


@define
class Talk:
    """Both directions."""

    to_guest: Line = field(factory=Line)
    to_node: Line = field(factory=Line)
