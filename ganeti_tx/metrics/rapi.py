"""What the Remote API tells of itself, besides what it asks luxid for."""

from ganeti_tx.metrics.metric import Counter, Gauge, Histogram, by_name

UP = Gauge("ganeti_up", "Whether the master daemon answered; without it only the Remote API's own part is here.")
REQUESTS = Counter(
    "ganeti_rapi_requests_total", "Requests that were answered, by resource, method and status.",
    ("resource", "method", "status"),
)  # fmt: skip
SECONDS = Histogram(
    "ganeti_rapi_request_seconds",
    "How long requests took from the last byte of theirs to the last of the answer.",
    ("resource", "method"),
)
CONNECTIONS = Gauge("ganeti_rapi_connections", "Open connections to the Remote API.")
STREAMS = Gauge("ganeti_rapi_event_streams", "Answers that are sent as long as somebody reads them.")

#: The resource of requests for what does not exist.
NO_RESOURCE = "none"

RAPI_METRICS = by_name(globals().values())
