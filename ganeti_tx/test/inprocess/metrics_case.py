"""The ground of tests that read the metrics of a whole cluster."""

import msgspec

from ganeti_tx.metrics.metric import Histogram, Metric
from ganeti_tx.metrics.readings import Readings
from ganeti_tx.test.inprocess.case import ClusterCase


class MetricsCase(ClusterCase):
    """Asks over LUXI, as the Remote API does."""

    def readings(self) -> Readings:
        """All metrics of the cluster as of now."""
        return msgspec.convert(self.luxi().call("QueryMetrics", []), Readings)

    def series(self, metric: Metric) -> dict[tuple[str, ...], float]:
        """The series of a metric by their labels; of a histogram, how many observations each has."""
        readings = self.readings()
        if isinstance(metric, Histogram):
            return {each.labels: sum(each.counts) for each in readings.spreads.get(metric.name, [])}
        return {each.labels: each.value for each in readings.values.get(metric.name, [])}

    def value(self, metric: Metric, *labels: str) -> float | None:
        """One series; None when there is none."""
        return self.series(metric).get(labels)

    def total(self, histogram: Histogram, *labels: str) -> float:
        """What the observations of one series sum up to; 0 for none."""
        spreads = self.readings().spreads.get(histogram.name, [])
        return sum(each.sum for each in spreads if each.labels == labels)

    def labels(self) -> list[tuple[str, tuple[str, ...]]]:
        """Every series that is told: its metric's name and its labels."""
        found = self.readings()
        values = [(name, each.labels) for name, series in found.values.items() for each in series]
        return values + [(name, each.labels) for name, series in found.spreads.items() for each in series]
