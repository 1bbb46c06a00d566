"""The counts of one process. Recording is a look-up and an addition, so that it can be done on every path."""

from bisect import bisect_left
from collections.abc import Callable, Mapping

from attrs import define, field

from ganeti_tx.metrics.metric import Counter, Gauge, Histogram, Metric, Metrics
from ganeti_tx.metrics.readings import Readings, Spread, Value

#: Series of one metric; what would be another is not kept.
MAX_SERIES = 10_000

Labels = tuple[str, ...]


@define(eq=False)
class Bins:
    """One series of a histogram."""

    counts: list[int]
    sum: float = 0.0


@define(eq=False)
class Tally:
    """Keeps a number, or the bins of a histogram, for each metric and its labels."""

    most_series: int = MAX_SERIES
    _values: dict[Metric, dict[Labels, float]] = field(factory=dict)
    _bins: dict[Histogram, dict[Labels, Bins]] = field(factory=dict)

    # Recording; as many label values are given as the metric has labels, in its order

    def count(self, counter: Counter, *labels: str, by: float = 1.0) -> None:
        """So much more of it has happened."""
        series = self._values.setdefault(counter, {})
        if labels in series or len(series) < self.most_series:
            series[labels] = series.get(labels, 0.0) + by

    def set(self, gauge: Gauge | Counter, value: float, *labels: str) -> None:
        """That is so now; also for a counter that is kept elsewhere, as the kernel does with a process's time."""
        series = self._values.setdefault(gauge, {})
        if labels in series or len(series) < self.most_series:
            series[labels] = float(value)

    def observe(self, histogram: Histogram, value: float, *labels: str) -> None:
        """One more observation. A clock that was set back gives no negative ones."""
        if (bins := self._bins_of(histogram, labels)) is not None:
            bins.counts[bisect_left(histogram.bounds, value)] += 1
            bins.sum += max(value, 0.0)

    def _bins_of(self, histogram: Histogram, labels: Labels) -> Bins | None:
        series = self._bins.setdefault(histogram, {})
        bins = series.get(labels)
        if bins is None and len(series) < self.most_series:
            bins = series[labels] = Bins([0] * (len(histogram.bounds) + 1))
        return bins

    # Handing over

    def readings(self) -> Readings:
        """All that was recorded."""
        return Readings(
            values={
                metric.name: [Value(labels, value) for labels, value in series.items()]
                for metric, series in self._values.items()
                if series
            },
            spreads={
                histogram.name: [Spread(labels, sparse(bins.counts), bins.sum) for labels, bins in series.items()]
                for histogram, series in self._bins.items()
                if series
            },
        )

    def take(self) -> Readings:
        """The same, and begin anew."""
        readings = self.readings()
        self._values.clear()
        self._bins.clear()
        return readings

    def add(self, readings: Readings, known: Metrics) -> None:
        """Add what another process has recorded; what does not fit the metrics known here is left out."""
        for name, values in readings.values.items():
            metric = known.get(name)
            for each in values:
                if isinstance(metric, Counter) and len(each.labels) == len(metric.labels):
                    self.count(metric, *each.labels, by=each.value)
                elif isinstance(metric, Gauge) and len(each.labels) == len(metric.labels):
                    self.set(metric, each.value, *each.labels)
        for name, spreads in readings.spreads.items():
            histogram = known.get(name)
            for spread in spreads:
                if isinstance(histogram, Histogram) and fits(histogram, spread):
                    self._add_spread(histogram, spread)

    def _add_spread(self, histogram: Histogram, spread: Spread) -> None:
        if (bins := self._bins_of(histogram, spread.labels)) is not None:
            for index, count in enumerate(spread.counts):
                bins.counts[index] += count
            bins.sum += spread.sum

    # Forgetting

    def forget(self, metric: Metric) -> None:
        """Drop every series of a metric, before all that are so now are set."""
        self._values.pop(metric, None)

    def keep(self, label: str, holds: Callable[[str], bool]) -> None:
        """Drop the series whose value of a label does not hold: those of nodes that are gone, for one."""
        kept: list[Mapping[Metric, dict[Labels, float]] | Mapping[Histogram, dict[Labels, Bins]]] = [
            self._values,
            self._bins,
        ]
        for series_of in kept:
            for metric, series in series_of.items():
                if label in metric.labels:
                    at = metric.labels.index(label)
                    for gone in [labels for labels in series if not holds(labels[at])]:
                        del series[gone]


def sparse(counts: list[int]) -> tuple[int, ...]:
    """Without the zeros at the end."""
    end = len(counts)
    while end and not counts[end - 1]:
        end -= 1
    return tuple(counts[:end])


def fits(histogram: Histogram, spread: Spread) -> bool:
    """Whether a spread can be one of this histogram's."""
    return len(spread.labels) == len(histogram.labels) and len(spread.counts) <= len(histogram.bounds) + 1
