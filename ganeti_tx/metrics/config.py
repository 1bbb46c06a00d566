"""What WConfD tells of the configuration, its writing and its way to the nodes."""

from ganeti_tx.metrics.metric import Counter, Gauge, Histogram, by_name

SERIAL = Gauge("ganeti_config_serial", "Serial number of the configuration on disk.")
WRITE = Histogram("ganeti_config_write_seconds", "How long it took to write the configuration to disk.")
WRITE_FAILURES = Counter("ganeti_config_write_failures_total", "Writes of the configuration that the disk refused.")
SHARED_BY = Histogram(
    "ganeti_config_changes_per_write", "Changes that shared one write.", bounds=(1, 2, 3, 5, 10, 20, 50, 100)
)
DISTRIBUTION_FAILURES = Counter(
    "ganeti_config_distribution_failures_total", "Transfers of the configuration to a node that failed.", ("node",)
)
BEHIND = Gauge("ganeti_config_distribution_behind", "1 for a node that lacks the newest configuration.", ("node",))
WCONFD_UP = Gauge("ganeti_wconfd_up", "Whether the configuration daemon answered luxid.")

CONFIG_METRICS = by_name(globals().values())
