"""`/metrics`: the cluster as Prometheus sees it (doc/design/metrics.rst)."""

from twisted.internet.defer import Deferred, TimeoutError
from twisted.logger import Logger

from ganeti_tx.errors import GanetiError, error_text
from ganeti_tx.metrics.page import page
from ganeti_tx.metrics.rapi import UP
from ganeti_tx.metrics.readings import Readings
from ganeti_tx.metrics.table import METRICS
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.rapi.http.answers import Document
from ganeti_tx.rapi.operations.operation import Call, Operation
from ganeti_tx.rapi.operations.schemas import TEXT
from ganeti_tx.rapi.operations.submission import READ_OR_WRITE

log = Logger()

#: Seconds for the master daemon's answer. It waits four for the nodes; Prometheus gives a page ten.
ANSWER_LIMIT = 8.0


async def metrics(call: Call) -> Document:
    """What luxid tells and what is counted here; the latter alone while luxid does not answer."""
    told = await of_cluster(call)
    whole = Tally()
    whole.set(UP, told is not None)
    for readings in (told or Readings(), call.measures.readings()):
        whole.add(readings, METRICS)
    accept = call.header("accept") or ""
    shown = await call.measures.threads.run(lambda: page(whole.readings(), METRICS, accept))
    return Document(shown.content_type, shown.body)


async def of_cluster(call: Call) -> Readings | None:
    """What luxid tells; None while it does not answer, or not in a way that is understood."""
    asking = Deferred.fromCoroutine(call.luxi.query_metrics()).addTimeout(ANSWER_LIMIT, call.measures.clock)
    try:
        readings: Readings = await asking
    except (GanetiError, TimeoutError) as error:
        log.warn("the master daemon does not tell its metrics: {error}", error=error_text(error))
        return None
    return readings


OPERATIONS = (
    Operation(
        "GET", "/metrics", "metrics", READ_OR_WRITE, metrics, "Show the cluster's metrics to Prometheus", TEXT,
        tags=("cluster",), content_type="text/plain",
    ),
)  # fmt: skip
