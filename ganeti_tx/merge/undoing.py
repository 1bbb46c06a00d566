"""What was done is taken back, last first; each failure is told, and the rest is taken back all the same."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from attrs import define, field

from ganeti_tx.errors import GanetiError

#: By which a program is asked to end.
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Nobody asks this program, or those that it starts meanwhile, to end: something would be left half done."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ENDS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@define
class Undoing:
    """In a `with`: on an error all undos run, without one none does, after `keep` none does either."""

    say: Callable[[str], None]
    kept: bool = field(default=False, init=False)
    _undos: list[tuple[str, Callable[[], object]]] = field(factory=list, init=False)

    def undo(self, what: str, work: Callable[[], object]) -> None:
        """Take a step back by this; `what` says it to the operator."""
        self._undos.append((what, work))

    def keep(self) -> None:
        """There is no way back any more."""
        self.kept = True
        self._undos.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.take_back()

    def take_back(self) -> None:
        """All of it."""
        with uninterrupted():
            while self._undos:
                what, work = self._undos.pop()
                self.say(what)
                try:
                    work()
                except (GanetiError, OSError) as failed:
                    self.say(f"Failed: {failed}")
