"""What is told of locks: all by WConfD, save that luxid knows since when a job waits."""

from ganeti_tx.metrics.metric import SLOW_SECONDS, Gauge, Histogram, by_name

HELD = Gauge("ganeti_locks_held", "Locks that are held.", ("level", "mode"))
WAITED_FOR = Gauge("ganeti_lock_waiters", "Jobs that wait for locks of a level.", ("level",))
LONGEST_WAIT = Gauge(
    "ganeti_lock_longest_wait_seconds",
    "How long the job that waits longest for its locks has waited, all tries together.",
)
WAIT = Histogram(
    "ganeti_lock_wait_seconds",
    "How long each try to get locks waited, by the first level asked for and how it ended (granted, timeout, failed).",
    ("level", "result"),
    bounds=SLOW_SECONDS,
)

LOCK_METRICS = by_name(globals().values())
