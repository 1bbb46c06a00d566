"""What a metric is: its name, its meaning, and the labels that tell its series apart.

A metric is declared once, as a module's constant, and recorded with a `Tally`. Label values come from sets that the
cluster itself bounds (names of its nodes, of calls, states); what somebody typed never becomes one.
"""

from collections.abc import Iterable, Mapping

from attrs import field, frozen

#: Bounds in seconds for what takes from a millisecond to a minute: calls, requests, writes.
FAST_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
#: For what may take hours: jobs, and their waits.
SLOW_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14400.0)


@frozen(eq=False)
class Metric:
    """One metric; the name ends in its unit (seconds, bytes), that of a counter in "_total"."""

    name: str
    meaning: str
    labels: tuple[str, ...] = ()


@frozen(eq=False)
class Counter(Metric):
    """Only grows, until its process ends."""


@frozen(eq=False)
class Gauge(Metric):
    """What is so now."""


@frozen(eq=False)
class Histogram(Metric):
    """How many observations were at most each of some bounds, which rise."""

    bounds: tuple[float, ...] = field(default=FAST_SECONDS, kw_only=True)


Metrics = Mapping[str, Metric]


def by_name(metrics: Iterable[object]) -> Metrics:
    """Those of the objects that are metrics, by name: `by_name(globals().values())` collects a module's."""
    return {each.name: each for each in metrics if isinstance(each, Metric)}
