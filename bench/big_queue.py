"""How a master bears a large queue: its start, lists, single jobs, archiving, memory. Prints a table and JSON."""

import argparse
import json
import multiprocessing
import re
import tempfile
import time
from collections.abc import Callable
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from queue_files import INTERVAL, fill

from ganeti_tx.bootstrap.start import socket_answers, stop
from ganeti_tx.devcluster.layout import Layout
from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.devcluster.up import run, up
from ganeti_tx.luxi.client import Client
from ganeti_tx.runtime.paths import Paths

DAEMON = "ganeti-master"
CONTEXT = multiprocessing.get_context("fork")
LISTED = ["id", "status", "summary"]
SHOWN = ["id", "status", "ops", "opresult", "opstatus", "oplog", "opstart", "opexec", "opend", "received_ts", "end_ts"]


def ask_on(socket: str, over: Event, longest: "Queue[float]") -> None:
    """Ask a small question over and over, then tell the longest wait for an answer in seconds."""
    worst = 0.0
    with Client(socket) as client:
        while not over.wait(0.002):
            start = time.monotonic()
            client.query_config_values(["drain_flag"])
            worst = max(worst, time.monotonic() - start)
    longest.put(worst)


class Bench:
    """Figures by name, in the order in which they were taken."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.paths = Paths(layout.master.root)
        self.socket = str(self.paths.query_socket)
        self.figures: dict[str, float] = {}

    def timed(self, name: str, work: Callable[[], Any]) -> Any:
        """Take the time of something in milliseconds."""
        start = time.monotonic()
        result = work()
        self.figures[f"{name}, ms"] = (time.monotonic() - start) * 1000
        return result

    def beside(self, name: str, work: Callable[[], Any]) -> Any:
        """The same, and how long others waited for an answer meanwhile."""
        over, longest = CONTEXT.Event(), CONTEXT.Queue()
        asker = CONTEXT.Process(target=ask_on, args=(self.socket, over, longest))  # a thread would wait for our JSON
        asker.start()
        try:
            return self.timed(name, work)
        finally:
            over.set()
            self.figures[f"longest wait of others in {name}, ms"] = longest.get(timeout=10) * 1000
            asker.join()

    def memory(self, name: str) -> None:
        """The resident memory of the master in MiB."""
        process = int(self.paths.pid_file(DAEMON).read_text().split()[0])
        status = Path(f"/proc/{process}/status").read_text()
        for key, what in (("VmRSS", "memory"), ("VmHWM", "memory at its peak")):
            kib = re.search(rf"{key}:\s+(\d+) kB", status)
            assert kib is not None
            self.figures[f"{what} {name}, MiB"] = int(kib[1]) / 1024

    def start(self) -> None:
        """Start the master and wait until it answers."""
        run(self.layout.master, [DAEMON])
        answers = socket_answers(self.paths.query_socket)
        while not answers():
            time.sleep(0.01)


def measure(bench: Bench, archived: int, live: int) -> None:
    """Take every figure."""
    last = archived + live
    bench.timed("start with an empty queue", bench.start)
    bench.memory("with an empty queue")
    stop(bench.paths, DAEMON)
    bench.timed("making the queue", lambda: fill(bench.paths, archived, live, int(time.time())))
    bench.timed("start", bench.start)
    bench.memory("after the start")
    with Client(bench.socket) as client:
        ten = ["|", *(["==", "id", job_id] for job_id in range(last - 9, last + 1))]
        assert len(bench.timed("list of ten by id", lambda: client.query("job", LISTED, ten))["data"]) == 10
        newest = [">", "id", last - 10]
        assert len(bench.timed("list of the ten newest", lambda: client.query("job", LISTED, newest))["data"]) == 10
        failed = ["==", "status", "error"]
        assert bench.beside("list of those that failed", lambda: client.query("job", LISTED, failed))["data"] == []
        assert len(bench.beside("list", lambda: client.query("job", LISTED))["data"]) == live
        assert len(bench.timed("details of a live job", lambda: client.query_jobs([last], SHOWN))) == 1
        assert bench.timed("details of an archived job", lambda: client.query_jobs([1], SHOWN))[0][1] == "success"
        bench.memory("after these")
        everything = [*LISTED, "archived"]
        assert len(bench.beside("list with the archive", lambda: client.query("job", everything))["data"]) == last
        bench.memory("after that")
        half = live // 2 * INTERVAL
        moved, left = bench.beside("archiving half of the jobs by age", lambda: client.auto_archive_jobs(half))
        assert left == 0 and abs(moved - live / 2) < live / 10 + 5, (moved, left)
        bench.memory("in the end")
    bench.timed("gnt-job list, whole program", lambda: run(bench.layout.master, ["gnt-job", "list", "--no-headers"]))
    stop(bench.paths, DAEMON)


def main() -> None:
    """Bring a node up, fill its queue, measure, take it down."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--live", type=int, default=20_000, help="jobs that are not archived")
    options.add_argument("--archived", type=int, default=200_000, help="jobs that are")
    options.add_argument("--directory", default="/dev/shm", help="where the node's files are made")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="gtx-queue-", dir=arguments.directory) as directory:
        root = Path(directory) / "c"
        bench = Bench(up(root, 1, ["--enabled-hypervisors=fake"]))
        try:
            stop(bench.paths, DAEMON)
            measure(bench, arguments.archived, arguments.live)
        finally:
            end_all(root)
    for name, value in bench.figures.items():
        print(f"{name:65} {value:10.1f}")
    print(json.dumps({name: round(value, 2) for name, value in bench.figures.items()}))


if __name__ == "__main__":
    main()
