"""A terminal at which somebody types what was typed when the record was made."""

import io
from collections.abc import Sequence


class Hangup(BaseException):
    """The command asks on, and nobody types any more: whoever recorded it has ended it then."""


class Screen(io.StringIO):
    """All that appears."""

    def isatty(self) -> bool:
        """As a terminal says."""
        return True


class Keyboard(io.StringIO):
    """The lines typed, which appear on the screen as they are typed."""

    def __init__(self, typed: Sequence[str], screen: Screen) -> None:
        super().__init__()
        self._typed = list(typed)
        self._screen = screen

    def isatty(self) -> bool:
        """As a terminal says."""
        return True

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]  # as io.StringIO itself does
        """The next one. @raise Hangup: there is none."""
        if not self._typed:
            raise Hangup
        line = f"{self._typed.pop(0)}\n"
        self._screen.write(line)
        return line
