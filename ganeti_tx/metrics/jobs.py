"""What luxid tells of jobs and of the processes that run them."""

from ganeti_tx.metrics.metric import SLOW_SECONDS, Counter, Gauge, Histogram, by_name

JOBS = Gauge("ganeti_jobs", "Jobs that are not archived, by their status.", ("status",))
OLDEST = Gauge(
    "ganeti_job_oldest_age_seconds", "How long ago the oldest job of a status was submitted.", ("status",)
)  # fmt: skip
QUEUE_LENGTH = Gauge("ganeti_job_queue_length", "Jobs that wait for a slot, those that wait for other jobs left out.")
RUNNING_LIMIT = Gauge("ganeti_job_running_limit", "How many jobs may run at a time.")
DRAINED = Gauge("ganeti_job_queue_drained", "1 while the queue takes no jobs.")
SUBMITTED = Counter("ganeti_jobs_submitted_total", "Jobs that were taken into the queue.")
ENDED = Counter(
    "ganeti_jobs_ended_total",
    'Jobs that ended, by opcode ("several" for jobs of different ones) and final status.',
    ("opcode", "status"),
)
WAIT = Histogram(
    "ganeti_job_wait_seconds", "From the submission of a job that ended to its start.", ("opcode",), bounds=SLOW_SECONDS
)
RUN = Histogram(
    "ganeti_job_run_seconds", "From the start of a job that ended to its end.", ("opcode",), bounds=SLOW_SECONDS
)
RUNNERS = Gauge("ganeti_job_runners", "Processes that run jobs: busy, idle, or just being started.", ("state",))
RUNNERS_STARTED = Counter("ganeti_job_runners_started_total", "Processes for jobs that came up.")
RUNNERS_DIED = Counter("ganeti_job_runners_died_total", "Processes that ended before their job did.")
COPIES_BEHIND = Gauge(
    "ganeti_job_queue_copy_behind", "1 for a master candidate that lacks a part of the queue.", ("node",)
)

#: The label of jobs whose opcodes differ.
SEVERAL = "several"

JOB_METRICS = by_name(globals().values())
