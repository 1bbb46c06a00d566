"""What WConfD tells of locks."""

from ganeti_tx.metrics.metric import SLOW_SECONDS, Gauge, Histogram, by_name

HELD = Gauge("ganeti_locks_held", "Locks that are held.", ("level", "mode"))
WAITED_FOR = Gauge("ganeti_lock_waiters", "Jobs that wait for locks of a level.", ("level",))
LONGEST_WAIT = Gauge("ganeti_lock_longest_wait_seconds", "How long the first of those that wait has waited; 0 if none.")
WAIT = Histogram(
    "ganeti_lock_wait_seconds",
    "How long requests for locks waited, by the first level asked for and how the wait ended (granted, timeout, failed).",
    ("level", "result"),
    bounds=SLOW_SECONDS,
)

LOCK_METRICS = by_name(globals().values())
