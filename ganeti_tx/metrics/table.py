"""Every metric of the cluster's page."""

from ganeti_tx.metrics.config import CONFIG_METRICS
from ganeti_tx.metrics.jobs import JOB_METRICS
from ganeti_tx.metrics.locks import LOCK_METRICS
from ganeti_tx.metrics.luxi import LUXI_METRICS
from ganeti_tx.metrics.metric import Metrics
from ganeti_tx.metrics.nodes import NODE_METRICS
from ganeti_tx.metrics.process import PROCESS_METRICS
from ganeti_tx.metrics.rapi import RAPI_METRICS

METRICS: Metrics = {
    **CONFIG_METRICS,
    **JOB_METRICS,
    **LOCK_METRICS,
    **LUXI_METRICS,
    **NODE_METRICS,
    **PROCESS_METRICS,
    **RAPI_METRICS,
}
