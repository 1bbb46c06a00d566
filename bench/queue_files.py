"""Makes a queue directory with many ended jobs, as years of work leave it."""

import os
from collections.abc import Callable
from pathlib import Path

from ganeti_tx.model.opcodes import Disclosure, OpInstanceStartup, encode
from ganeti_tx.queue.job import QueuedJob, QueuedOp, Status, encode_job
from ganeti_tx.runtime.paths import Paths

#: Seconds between the ends of two jobs.
INTERVAL = 60


def one_of_many(job_id: int) -> str:
    """The instance of a job, whether there is one or not."""
    return f"web{job_id % 500}.example.com"


def ended_job(job_id: int, end: int, instance: str) -> bytes:
    """The file of a job of one opcode that ended well."""
    op = OpInstanceStartup(instance_name=instance)
    stored = encode(op, Disclosure.STORED)
    stored["reason"] = [
        ["gnt:client:gnt-instance", "startup", end * 10**9],
        ["gnt:opcode:instance_startup", f"job={job_id};index=0", end * 10**9],
    ]
    log = [(serial, (end - 1, serial), "message", f"step {serial} of job {job_id}") for serial in range(1, 4)]
    ended = QueuedOp(
        input=stored,
        status=Status.SUCCESS,
        log=log,
        start_timestamp=(end - 2, 7),
        exec_timestamp=(end - 1, 7),
        end_timestamp=(end, 7),
    )
    return encode_job(
        QueuedJob(
            id=job_id,
            ops=[ended],
            received_timestamp=(end - 3, 7),
            start_timestamp=(end - 2, 7),
            end_timestamp=(end, 7),
            livelock=f"/var/run/ganeti/livelocks/job_{job_id}",
            process_id=4711,
        )
    )


def fill(paths: Paths, archived: int, live: int, now: int, instance_of: Callable[[int], str] = one_of_many) -> None:
    """Jobs 1 to `archived` in the archive, the next `live` ones in the queue; the last ended at `now`."""
    last = archived + live
    here = None
    for job_id in range(1, last + 1):
        path = paths.archived_job_file(job_id) if job_id <= archived else paths.job_file(job_id)
        if path.parent != here:
            here = path.parent
            here.mkdir(mode=0o750, parents=True, exist_ok=True)
        write(path, ended_job(job_id, now - (last - job_id) * INTERVAL, instance_of(job_id)))
    write(paths.queue_serial_file, f"{last}\n".encode())


def write(path: Path, data: bytes) -> None:
    """The whole file, without waiting for the disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o640)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)
