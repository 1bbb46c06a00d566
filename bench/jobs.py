"""How fast jobs go on a devcluster of three nodes; prints a table and JSON."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fill import fill

from ganeti_tx.bootstrap.start import socket_answers, stop
from ganeti_tx.devcluster.layout import Layout
from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.devcluster.up import run, up
from ganeti_tx.luxi.client import Client
from ganeti_tx.runtime.paths import Paths

NO_OP: dict[str, Any] = {"OP_ID": "OP_TEST_DELAY", "duration": 0.0, "reason": []}
FINAL = ("success", "error", "canceled")
#: Seconds for which any one job is waited for.
TIMEOUT = 120.0


def wait_for(client: Client, job_id: int) -> str:
    """The job's final status."""
    previous: Any = None
    serial = None  # of the last log entry: without it each one would be news again
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        previous, entries = client.wait_for_job_change(job_id, ["status"], previous, serial, timeout=10)
        serial = entries[-1][0] if entries else serial
        if previous[0] in FINAL:
            return str(previous[0])
    raise SystemExit(f"job {job_id} did not end within {TIMEOUT:.0f} s")


def wait_for_all(client: Client, job_ids: list[int]) -> None:
    """Wait until every job has succeeded."""
    for job_id in job_ids:
        if (status := wait_for(client, job_id)) != "success":
            raise SystemExit(f"job {job_id} ended as {status}")


def submitted_at_once(client: Client, count: int) -> float:
    """Jobs a second when all are submitted in one call."""
    start = time.monotonic()
    answers = client.submit_many_jobs([[NO_OP]] * count)
    wait_for_all(client, [int(answer[1]) for answer in answers])
    return count / (time.monotonic() - start)


def submitted_one_by_one(client: Client, count: int) -> float:
    """Jobs a second when each is submitted by a call of its own, without waiting for the one before."""
    start = time.monotonic()
    wait_for_all(client, [client.submit_job([NO_OP]) for _ in range(count)])
    return count / (time.monotonic() - start)


def latencies(client: Client, count: int) -> list[float]:
    """Milliseconds from submit to success, one job at a time on an idle cluster."""
    result = []
    for _ in range(count):
        start = time.monotonic()
        wait_for(client, client.submit_job([NO_OP]))
        result.append((time.monotonic() - start) * 1000)
    return sorted(result)


def wall(layout: Layout, words: list[str], count: int) -> float:
    """Median milliseconds of a command as a process."""
    program = str(Path(sys.executable).parent / words[0])
    environment = layout.master.environment(os.environ)

    def once() -> float:
        start = time.monotonic()
        subprocess.run([program, *words[1:]], env=environment, check=True, capture_output=True)
        return (time.monotonic() - start) * 1000

    return statistics.median(once() for _ in range(count))


def create_instance(client: Client, layout: Layout, count: int) -> float:
    """Median milliseconds to create a diskless instance on the fake hypervisor, from submit to success."""
    result = []
    for number in range(count):
        op = {
            "OP_ID": "OP_INSTANCE_CREATE",
            "reason": [],
            "instance_name": f"bench{number}.dev.example",
            "mode": "create",
            "disk_template": "diskless",
            "disks": [],
            "nics": [{}],
            "hypervisor": "fake",
            "pnode": layout.nodes[number % len(layout.nodes)].name,
            "os_type": "busybox+default",
            "no_install": True,
            "name_check": False,
            "ip_check": False,
            "beparams": {"maxmem": 128, "minmem": 128},
        }
        start = time.monotonic()
        job_id = client.submit_job([op])
        if (status := wait_for(client, job_id)) != "success":
            raise SystemExit(f"creating an instance ended as {status}: {client.query_jobs([job_id], ['opresult'])}")
        result.append((time.monotonic() - start) * 1000)
    return statistics.median(result)


def fill_cluster(layout: Layout, count: int) -> None:
    """Restart the master with that many instances in its configuration."""
    paths = Paths(layout.master.root)
    stop(paths, "ganeti-master")
    fill(paths.config_file, count)
    run(layout.master, ["ganeti-master"])
    deadline = time.monotonic() + TIMEOUT
    while not socket_answers(paths.query_socket)() and time.monotonic() < deadline:
        time.sleep(0.05)


def measure(layout: Layout, scale: float) -> dict[str, float]:
    """All figures."""
    with Client(str(layout.master.root / "var/run/ganeti/socket/ganeti-query")) as client:
        count: Callable[[int], int] = lambda number: max(5, int(number * scale))  # noqa: E731
        latencies(client, 5)
        idle = latencies(client, count(50))
        return {
            "no-op jobs a second, submitted at once": submitted_at_once(client, count(1000)),
            "no-op jobs a second, one by one": submitted_one_by_one(client, count(300)),
            "job from submit to success, median ms": statistics.median(idle),
            "job from submit to success, p95 ms": idle[int(len(idle) * 0.95)],
            "gnt-instance list, wall ms": wall(layout, ["gnt-instance", "list"], 15),
            "gnt-cluster info, wall ms": wall(layout, ["gnt-cluster", "info"], 15),
            "create a diskless instance, ms": create_instance(client, layout, 10),
        }


def main() -> None:
    """Bring a devcluster up, measure, take it down."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1.0, help="fewer or more of everything")
    options.add_argument("--instances", type=int, default=0, help="that many instances in the configuration first")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="gtx-bench-", dir="/tmp") as directory:
        root = Path(directory) / "dc"
        layout = up(root, 3, ["--enabled-hypervisors=fake"])
        try:
            if arguments.instances:
                fill_cluster(layout, arguments.instances)
            figures = measure(layout, arguments.scale)
        finally:
            end_all(root)
    for name, value in figures.items():
        print(f"{name:45} {value:10.1f}")
    print(json.dumps({"instances": arguments.instances, **{name: round(value, 2) for name, value in figures.items()}}))


if __name__ == "__main__":
    main()
