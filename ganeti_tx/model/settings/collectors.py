"""The collectors of the monitoring daemon, as a cluster has them set."""

from ganeti_tx.model.base import Wire

#: Those of the Ganeti 3.0 monitoring table; "inst-status-kvm" is none of Ganeti's.
COLLECTORS = ("cpu-avg-load", "diskstats", "drbd", "inst-status-kvm", "inst-status-xen", "lv", "xen-cpu-avg-load")


class DataCollector(Wire, frozen=True, kw_only=True):
    """Whether a collector of the monitoring daemon runs, and how often (microseconds)."""

    active: bool
    interval: int


DEFAULT_COLLECTOR = DataCollector(active=True, interval=5_000_000)
