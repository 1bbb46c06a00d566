"""What luxid tells of those who ask it."""

from ganeti_tx.metrics.metric import Counter, Gauge, Histogram, by_name

REQUESTS = Histogram(
    "ganeti_luxi_request_seconds",
    "How long requests took from their reading to their answer; WaitForJobChange and WaitForEvents wait on purpose.",
    ("method",),
)
FAILURES = Counter("ganeti_luxi_request_failures_total", "Requests that were answered with an error.", ("method",))
CONNECTIONS = Gauge("ganeti_luxi_connections", "Open connections to luxid.")

LUXI_METRICS = by_name(globals().values())
