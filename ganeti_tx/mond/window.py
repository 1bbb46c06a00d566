"""The samples of the last minutes, for averages of what only ever counts up."""

from collections import deque
from typing import Generic, TypeVar

from attrs import define, field

T = TypeVar("T")

#: Seconds that an average looks back, and how many samples are kept at most (Ganeti 3.0 monitoring table, "cpu_load").
SPAN = 600.0
MOST = 150


@define
class Window(Generic[T]):
    """Samples with their times, the oldest first; of those beyond the span only the youngest is kept."""

    span: float = SPAN
    most: int = MOST
    samples: deque[tuple[float, T]] = field(factory=deque)

    def add(self, time: float, sample: T) -> None:
        """A new sample; after the clock was set back all begins anew, for nobody knows how long ago the others were."""
        if self.samples and time <= self.samples[-1][0]:
            self.clear()
        self.samples.append((time, sample))
        while len(self.samples) > self.most or (len(self.samples) > 2 and time - self.samples[1][0] >= self.span):
            self.samples.popleft()

    def clear(self) -> None:
        """Forget all, as when what is counted has become something else."""
        self.samples.clear()

    @property
    def seconds(self) -> float:
        """The time between the oldest and the newest sample."""
        return self.samples[-1][0] - self.samples[0][0] if self.samples else 0.0

    @property
    def is_full(self) -> bool:
        """Whether it reaches back as far as it can, by its span or by the number of samples."""
        return self.seconds >= self.span or len(self.samples) >= self.most
