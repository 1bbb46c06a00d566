#!/usr/bin/env python3
"""What it costs the Remote API to keep a caller to some instances: the same questions by two users, with a scope that holds all
instances and without one, in turn. Prints the times, and their ratio.
"""

import argparse
import base64
import http.client
import ssl
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import msgspec
import queue_files
from fill import CONFIG_MODE, filled
from rapi import MASTER, PORT, RAPI

from ganeti_tx.bootstrap.keys import write_private
from ganeti_tx.bootstrap.start import socket_answers, stop
from ganeti_tx.devcluster.layout import Layout
from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.devcluster.up import run, up
from ganeti_tx.model.config_data import decode, encode
from ganeti_tx.runtime.paths import Paths

WHOLE, SCOPED = "root", "web"
USERS = f"{WHOLE} pw @admin\n{SCOPED} pw write,read,tag=web\n"
QUESTIONS = (
    "/2/instances",
    "/2/instances?bulk=1",
    "/2/instances/filler7.dev.example",
    "/2/query/instance?fields=name,admin_state",
    "/2/jobs",
    "/2/jobs?bulk=1",
    "/2/jobs/7",
    "/2/query/job?fields=id,status",
)


def prepare(layout: Layout, instances: int, jobs: int) -> None:
    """Instances in the scope, jobs about them, users; the daemons run with them."""
    paths = Paths(layout.master.root)
    for daemon in (RAPI, MASTER):
        if paths.pid_file(daemon).exists():
            stop(paths, daemon)
    config = filled(decode(paths.config_file.read_bytes()), instances)
    tagged = {uuid: msgspec.structs.replace(each, tags=frozenset({"web"})) for uuid, each in config.instances.items()}
    write_private(paths.config_file, encode(msgspec.structs.replace(config, instances=tagged)), CONFIG_MODE)
    queue_files.fill(paths, 0, jobs, int(time.time()), lambda job_id: f"filler{job_id % instances}.dev.example")
    paths.rapi_dir.mkdir(exist_ok=True)
    paths.rapi_users_file.write_text(USERS)
    run(layout.master, [MASTER])
    answers = socket_answers(paths.query_socket)
    while not answers():
        time.sleep(0.01)
    run(layout.master, [RAPI, "-b", layout.master.address])


class Asker:
    """One connection of one user."""

    def __init__(self, address: str, user: str) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self._connection = http.client.HTTPSConnection(address, PORT, timeout=120, context=context)
        self._headers = {"Authorization": "Basic " + base64.b64encode(f"{user}:pw".encode()).decode()}

    def ask(self, path: str) -> float:
        """The milliseconds that the answer takes."""
        start = time.perf_counter()
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise SystemExit(f"{path}: {answer.status}")
        return (time.perf_counter() - start) * 1000


def compared(askers: Sequence[Asker], path: str, runs: int) -> None:
    """Ask by turns; the first time of each is shown apart, as later something may be remembered."""
    first = [asker.ask(path) for asker in askers]
    later = [median(each) for each in zip(*([asker.ask(path) for asker in askers] for _ in range(runs)), strict=True)]
    cells = "".join(f"{whole:9.1f} {scoped:9.1f} {scoped / whole:7.1f}" for whole, scoped in (first, later))
    print(f"{path:45}{cells}", flush=True)


def main() -> None:
    """Bring a node up, fill it, measure, take it down."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--instances", type=int, default=1000)
    options.add_argument("--jobs", type=int, default=10_000)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--directory", default="/var/tmp", help="where the node's files are made")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="gtx-scoped-", dir=arguments.directory) as directory:
        root = Path(directory) / "c"
        layout = up(root, 1, ["--enabled-hypervisors=fake"])
        try:
            prepare(layout, arguments.instances, arguments.jobs)
            askers = [Asker(layout.master.address, user) for user in (WHOLE, SCOPED)]
            print(f"{'milliseconds: first, then median of later':45}" + "    whole    scoped   ratio" * 2)
            for path in QUESTIONS:
                compared(askers, path, arguments.runs)
        finally:
            end_all(root)


if __name__ == "__main__":
    main()
