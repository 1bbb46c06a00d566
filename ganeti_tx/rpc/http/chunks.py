"""A body that comes in chunks, as node daemons send what they did not know the length of."""

import re

from ganeti_tx.rpc.http.errors import BadAnswer, shown

#: Bytes of the line before a chunk.
LINE_LIMIT = 16
END = b"\r\n"
_SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}")


class Chunks:
    """Takes the bytes of chunks apart; `rest` is what came behind the last one, once that has come.

    Extensions of chunks and headers behind them are refused: node daemons send none.
    """

    def __init__(self) -> None:
        #: What has come, of which so much is taken already: to cut that off for each chunk would copy all for each.
        self._pending = bytearray()
        self._taken = 0
        #: Bytes that are missing of the chunk that is coming in.
        self._missing = 0
        #: Whether an end of line is missing behind it.
        self._open = False
        self._last = False
        self.rest: bytes | None = None

    def feed(self, data: bytes) -> bytes:
        """What these bytes have of the body. @raise BadAnswer: they are no chunks."""
        self._pending += data
        parts = []
        while self.rest is None and (part := self._next()) is not None:
            parts.append(part)
        del self._pending[: self._taken]
        self._taken = 0
        return b"".join(parts)

    def _next(self) -> bytes | None:
        """Some of the body; None if more must come first."""
        if self._missing:
            part = self._take(self._missing)
            self._missing -= len(part)
            return part or None
        if self._open and not self._close():
            return None
        return b"" if self.rest is not None or self._begin() else None

    def _close(self) -> bool:
        """Read the end of line behind a chunk."""
        end = self._look(len(END))
        if not END.startswith(end):
            raise BadAnswer(
                f"its answer has a chunk of another length than it said: {shown(self._look(len(self._pending)))}"
            )
        if len(end) < len(END):
            return False
        self._open = False
        self._taken += len(END)
        if self._last:
            self.rest = self._take(len(self._pending))
        return True

    def _begin(self) -> bool:
        """Read the line before a chunk; behind that of the last one, which is empty, there is an end of line, too."""
        line, end, _ = self._look(LINE_LIMIT + len(END)).partition(END)
        if (end or len(line) > LINE_LIMIT + 1) and not _SIZE.fullmatch(line):
            raise BadAnswer(f"its answer has a chunk of no length: {shown(line)}")
        if end:
            self._missing, self._open = int(line, 16), True
            self._taken += len(line) + len(END)
            self._last = self._missing == 0
        return bool(end)

    def _look(self, length: int) -> bytes:
        """So much of what comes next, or less."""
        return bytes(self._pending[self._taken : self._taken + length])

    def _take(self, length: int) -> bytes:
        """The same, which is then gone."""
        part = self._look(length)
        self._taken += len(part)
        return part
