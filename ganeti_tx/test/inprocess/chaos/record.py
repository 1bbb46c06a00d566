"""What happened in a run, event by event, and the invariants that were found broken."""

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from attrs import define, field

from ganeti_tx.test.inprocess.simulation import BEGINNING, Process, SimulatedTime


@define(eq=False)
class Record:
    """Every turn and every word goes into a digest; two runs with the same digest were the same."""

    time: SimulatedTime
    show: Callable[[str], None] | None = None
    broken: list[str] = field(factory=list)
    story: list[str] = field(factory=list)
    _hash: Any = field(factory=lambda: blake2b(digest_size=16))

    def turn(self, process: Process, func: Callable[..., Any]) -> None:
        """A process is about to do something."""
        self._take(f"{process.name} {getattr(func, '__qualname__', type(func).__name__)}")

    def tell(self, text: str) -> None:
        """Something worth telling, besides the turns."""
        line = self._take(f"* {text}")
        self.story.append(line)

    def breach(self, text: str) -> None:
        """An invariant is broken."""
        self.tell(f"BROKEN: {text}")
        self.broken.append(text)

    def _take(self, text: str) -> str:
        line = f"{self.time.turns:6} {self.time.rightNow - BEGINNING:12.6f} {text}"
        self._hash.update(line.encode())
        if self.show is not None:
            self.show(line)
        return line

    @property
    def digest(self) -> str:
        """All of it in short."""
        return str(self._hash.hexdigest())
