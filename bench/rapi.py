"""How fast the Remote API answers over TLS, beside LUXI asked directly in the same run; prints a table and JSON."""

import argparse
import json
import selectors
import socket
import ssl
import statistics
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

MASTER, RAPI, PORT = "ganeti-master", "ganeti-rapi", 5080
FIELDS = ["name", "status", "oper_state", "oper_ram", "pnode", "snodes", "tags", "beparams", "hvparams"]
#: Seconds for which each thing is measured.
PERIOD = 3.0


class Asker:
    """One connection that asks the same over and over."""

    def __init__(self, address: str, request: bytes) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.socket = context.wrap_socket(socket.create_connection((address, PORT), timeout=30))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._request = request
        self._missing = -1
        self._start = 0.0

    def ask(self) -> None:
        """Send the request."""
        self._start, self._missing = time.perf_counter(), -1
        self.socket.sendall(self._request)

    def took(self) -> float | None:
        """Read what is there; the seconds that the answer took once it is whole."""
        while True:
            data = self.socket.recv(262144)
            if not data:
                raise SystemExit("the Remote API hung up")
            if self._missing < 0:
                head, _, data = data.partition(b"\r\n\r\n")
                if not head.startswith(b"HTTP/1.1 200"):
                    raise SystemExit(f"the Remote API said {head.decode()}")
                self._missing = int(head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])
            self._missing -= len(data)
            if self._missing <= 0:
                return time.perf_counter() - self._start
            if not self.socket.pending():
                return None


def ask_all(address: str, request: bytes, count: int, seconds: float) -> list[float]:
    """So many connections ask for so long; the seconds that each answer took."""
    selector = selectors.DefaultSelector()
    for _ in range(count):
        asker = Asker(address, request)
        asker.ask()
        selector.register(asker.socket, selectors.EVENT_READ, asker)
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for key, _ in selector.select(1.0):
            took = key.data.took()
            if took is not None:
                times.append(took)
                key.data.ask()
    return times


class Bench:
    """Figures by name, in the order in which they were taken."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.paths = Paths(layout.master.root)
        self.figures: dict[str, float] = {}
        self.luxi: dict[str, float] = {}

    def restart(self, instances: int) -> None:
        """Begin anew with so many instances more."""
        for daemon in (RAPI, MASTER):
            if self.paths.pid_file(daemon).exists():
                stop(self.paths, daemon)
        if instances:
            fill(self.paths.config_file, instances)
        run(self.layout.master, [MASTER])
        answers = socket_answers(self.paths.query_socket)
        while not answers():
            time.sleep(0.01)
        run(self.layout.master, [RAPI, "-b", self.layout.master.address])

    def over_luxi(self, name: str, ask: Callable[[Client], Any]) -> None:
        """Questions a second on one connection."""
        with Client(str(self.paths.query_socket)) as client:
            ask(client)
            count, start = 0, time.perf_counter()
            while (now := time.perf_counter()) < start + PERIOD / 2:
                ask(client)
                count += 1
        self.luxi[name] = self.figures[f"{name} over LUXI, questions/s"] = count / (now - start)

    def over_https(self, name: str, path: str, connections: int, *headers: str) -> None:
        """Requests a second, and how long they take."""
        lines = "".join(f"{header}\r\n" for header in headers)
        request = f"GET {path} HTTP/1.1\r\nHost: {self.layout.cluster_name}\r\n{lines}\r\n".encode()
        ask_all(self.layout.master.address, request, connections, 0.3)
        times = sorted(ask_all(self.layout.master.address, request, connections, PERIOD))
        title = f"{name}, {connections} connections"
        speed = len(times) / PERIOD
        self.figures[f"{title}, requests/s"] = speed
        self.figures[f"{title}, median ms"] = statistics.median(times) * 1000
        self.figures[f"{title}, slowest of a hundred ms"] = times[int(len(times) * 0.99)] * 1000
        self.figures[f"{title}, requests for one question over LUXI"] = speed / self.luxi[name]


def measure(bench: Bench, sizes: list[int], connections: list[int]) -> None:
    """Take every figure."""
    present = 0
    for size in sizes:
        bench.restart(size - present)
        present = size
        if size == sizes[0]:
            bench.over_luxi("info", lambda client: client.query_cluster_info())
            bench.over_luxi("nodes", lambda client: client.query_nodes([], ["name"]))
            for count in connections:
                bench.over_https("info", "/2/info", count)
                bench.over_https("nodes", "/2/nodes", count)
        name = f"{size} instances in bulk"
        bench.over_luxi(name, lambda client: client.query_instances([], FIELDS))
        for count in connections:
            bench.over_https(name, "/2/instances?bulk=1", count)


def main() -> None:
    """Bring a cluster up, fill it, measure, take it down."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--instances", type=int, nargs="+", default=[20, 500, 2000], help="how many, ascending")
    options.add_argument("--connections", type=int, nargs="+", default=[1, 8, 64])
    options.add_argument("--directory", default="/dev/shm", help="where the nodes' files are made")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="gtx-rapi-", dir=arguments.directory) as directory:
        root = Path(directory) / "c"
        bench = Bench(up(root, 3, ["--enabled-hypervisors=fake"]))
        try:
            measure(bench, arguments.instances, arguments.connections)
        finally:
            end_all(root)
    for name, value in bench.figures.items():
        print(f"{name:75} {value:10.2f}")
    print(json.dumps({name: round(value, 2) for name, value in bench.figures.items()}))


if __name__ == "__main__":
    main()
