"""An output that may go away: what was begun is taken back though nobody can be told."""

import io
from typing import TextIO


class Unbroken(io.StringIO):
    """Writes on to another stream, and nowhere once that has failed."""

    def __init__(self, stream: TextIO, *, tells: bool) -> None:
        """@param tells: whether the first failure is raised, as the others are not."""
        super().__init__()
        self._stream: TextIO | None = stream
        self._tells = tells

    def write(self, text: str, /) -> int:
        """As all do. @raise OSError: it is the first one to fail."""
        if self._stream is not None:
            try:
                self._stream.write(text)
                self._stream.flush()
            except OSError:
                self._stream = None
                if self._tells:
                    raise
        return len(text)

    def isatty(self) -> bool:
        """Whether somebody reads it."""
        return self._stream is not None and self._stream.isatty()
