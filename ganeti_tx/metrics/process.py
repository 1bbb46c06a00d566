"""What is told of each daemon's own process."""

from attrs import frozen

from ganeti_tx.metrics.metric import Counter, Gauge, Histogram, by_name
from ganeti_tx.metrics.tally import Tally

RESIDENT = Gauge("ganeti_process_resident_memory_bytes", "Memory that the daemon has in RAM.", ("daemon",))
VIRTUAL = Gauge("ganeti_process_virtual_memory_bytes", "Address space that the daemon has.", ("daemon",))
CPU = Counter("ganeti_process_cpu_seconds_total", "CPU time that the daemon has used.", ("daemon",))
OPEN_FILES = Gauge("ganeti_process_open_fds", "File descriptors that the daemon has open.", ("daemon",))
MOST_FILES = Gauge("ganeti_process_max_fds", "File descriptors that the daemon may have open.", ("daemon",))
STARTED = Gauge("ganeti_process_start_time_seconds", "When the daemon was started, since the epoch.", ("daemon",))
LAG = Histogram(
    "ganeti_process_reactor_lag_seconds",
    "How late the daemon came to what was due, looked at once a second.",
    ("daemon",),
    bounds=(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)

PROCESS_METRICS = by_name(globals().values())


@frozen(kw_only=True)
class Usage:
    """What a process has taken of the machine; None for what cannot be told. Sizes in bytes, times in seconds."""

    resident: int | None = None
    virtual: int | None = None
    cpu: float | None = None
    open_files: int | None = None
    most_files: int | None = None
    #: Since the epoch.
    started: float | None = None


def record_usage(tally: Tally, daemon: str, usage: Usage) -> None:
    """Set the metrics of a daemon's process; what cannot be told is left out."""
    for gauge, value in (
        (RESIDENT, usage.resident),
        (VIRTUAL, usage.virtual),
        (CPU, usage.cpu),
        (OPEN_FILES, usage.open_files),
        (MOST_FILES, usage.most_files),
        (STARTED, usage.started),
    ):
        if value is not None:
            tally.set(gauge, value, daemon)
