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
        self._pending = b""
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
        return b"".join(parts)

    def _next(self) -> bytes | None:
        """Some of the body; None if more must come first."""
        if self._missing:
            part, self._pending = self._pending[: self._missing], self._pending[self._missing :]
            self._missing -= len(part)
            return part or None
        if self._open and not self._close():
            return None
        return b"" if self.rest is not None or self._begin() else None

    def _close(self) -> bool:
        """Read the end of line behind a chunk."""
        if not END.startswith(self._pending[:2]):
            raise BadAnswer(f"its answer has a chunk of another length than it said: {shown(self._pending)}")
        if len(self._pending) < len(END):
            return False
        self._open, self._pending = False, self._pending[2:]
        if self._last:
            self.rest = self._pending
        return True

    def _begin(self) -> bool:
        """Read the line before a chunk; behind that of the last one, which is empty, there is an end of line, too."""
        line, end, behind = self._pending.partition(END)
        if (end or len(line) > LINE_LIMIT + 1) and not _SIZE.fullmatch(line):
            raise BadAnswer(f"its answer has a chunk of no length: {shown(line)}")
        if end:
            self._missing, self._pending, self._open = int(line, 16), behind, True
            self._last = self._missing == 0
        return bool(end)
