"""Readings as Prometheus reads them, in its text format or as OpenMetrics. Only who serves such a page imports this."""

from collections.abc import Iterable, Sequence
from itertools import accumulate

from attrs import frozen
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.core import Metric as Family
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector, CollectorRegistry
from prometheus_client.utils import floatToGoString

from ganeti_tx.metrics.metric import Counter, Histogram, Metric, Metrics
from ganeti_tx.metrics.readings import Readings, Spread, Value


@frozen
class Page:
    """What is sent: the body and its Content-Type."""

    body: bytes
    content_type: str


def page(readings: Readings, known: Metrics, accept: str = "") -> Page:
    """The page of all readings whose metrics are known.

    @param accept: the request's header of that name, by which the format is chosen.
    """
    registry = CollectorRegistry()
    registry.register(ReadingsCollector(readings, known))
    encode, content_type = choose_encoder(accept)
    return Page(encode(registry), content_type)


class ReadingsCollector(Collector):
    """Gives prometheus_client what was recorded elsewhere."""

    def __init__(self, readings: Readings, known: Metrics) -> None:
        self._readings = readings
        self._known = known

    def describe(self) -> Iterable[Family]:
        """There is nothing to be compared with other collectors: each page has a registry of its own."""
        return []

    def collect(self) -> Iterable[Family]:
        """A family for each metric that has series, in the order of the names."""
        for name in sorted(self._known):
            metric = self._known[name]
            if isinstance(metric, Histogram):
                if spreads := self._readings.spreads.get(name):
                    yield histogram_family(metric, spreads)
            elif values := self._readings.values.get(name):
                yield value_family(metric, values)


def value_family(metric: Metric, values: Sequence[Value]) -> Family:
    """A counter or a gauge."""
    kind = CounterMetricFamily if isinstance(metric, Counter) else GaugeMetricFamily
    family = kind(metric.name, metric.meaning, labels=metric.labels)
    for each in sorted(values, key=lambda value: value.labels):
        family.add_metric(each.labels, each.value)
    return family


def histogram_family(histogram: Histogram, spreads: Sequence[Spread]) -> Family:
    """A histogram, whose counts Prometheus wants to rise from bound to bound."""
    names = [*map(floatToGoString, histogram.bounds), "+Inf"]
    family = HistogramMetricFamily(histogram.name, histogram.meaning, labels=histogram.labels)
    for each in sorted(spreads, key=lambda spread: spread.labels):
        counts = [*each.counts, *[0] * (len(names) - len(each.counts))]
        buckets = list(zip(names, map(float, accumulate(counts)), strict=True))
        family.add_metric(each.labels, buckets=buckets, sum_value=each.sum)
    return family
