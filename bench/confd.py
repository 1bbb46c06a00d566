"""Confd's queries a second with 1, 8 and 64 in flight, beside a plain UDP echo of the same datagrams in the same run.

The daemon runs as a process of its own on a cluster of some size. Every query has a salt of its own, is signed before
the clock starts, and its answer's salt is checked after the clock has stopped.
"""

import argparse
import multiprocessing
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parent.parent))

from msgspec.structs import replace

from ganeti_tx.confd.codec import Body, envelope_of, sign
from ganeti_tx.confd.messages import Request, RequestType
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.test.model import samples
from ganeti_tx.test.real.confd_daemon import ADDRESS, KEY, ConfdDaemon

#: Ganeti 3.0.2 on a machine of two cores.
GANETI = {1: 5700, 8: 11700}
#: Seconds after which an answer that has not come has been dropped.
LOST = 2


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=30_000, help="for each figure")
    parser.add_argument("--instances", type=int, default=2000, help="of the cluster")
    parser.add_argument("--nodes", type=int, default=100, help="of the cluster")
    options = parser.parse_args()
    config = cluster(options.nodes, options.instances)
    with tempfile.TemporaryDirectory(prefix="confd") as directory, Echo() as echo:
        confd = ConfdDaemon(Path(directory) / "root", config)
        try:
            confd.start()
            compare(config, confd.peer.port, echo.port, options.queries)
        finally:
            confd.stop()
    return 0


def compare(config: ConfigData, confd: int, echo: int, count: int) -> None:
    """Print the table, of servers on two ports."""
    print(f"{'in flight':>9} {'confd/s':>9} {'echo/s':>9} {'of echo':>8} {'of Ganeti':>9}")
    for flight in (1, 8, 64):
        queries = list(questions(config, count, flight))
        answered = rate(confd, queries, flight, check=True)
        echoed = rate(echo, queries, flight, check=False)
        ganeti = f"{answered / GANETI[flight]:9.2f}" if flight in GANETI else f"{'':9}"
        print(f"{flight:9} {answered:9.0f} {echoed:9.0f} {answered / echoed:8.2f} {ganeti}", flush=True)


def cluster(nodes: int, instances: int) -> ConfigData:
    """A cluster of some size."""
    held = [
        replace(samples.NODE, uuid=f"node-{n}", name=f"node{n}.example.com", primary_ip=f"192.0.{n // 250}.{n % 250}")
        for n in range(nodes)
    ]
    machines = [
        replace(
            samples.INSTANCE,
            uuid=f"instance-{n}",
            name=f"web{n}.example.com",
            primary_node=f"node-{n % nodes}",
            nics=(replace(samples.NIC, uuid=f"nic-{n}", ip=f"10.0.{n // 250}.{n % 250}"),),
            disks=(),
        )
        for n in range(instances)
    ]
    return replace(
        samples.CONFIG,
        cluster=replace(samples.CLUSTER, master_node="node-0"),
        nodes={node.uuid: node for node in held},
        instances={machine.uuid: machine for machine in machines},
        disks={},
    )


def questions(config: ConfigData, count: int, flight: int) -> Iterator[tuple[str, bytes]]:
    """So many signed queries with their salts: half for the roles of nodes, half for the nodes of addresses."""
    now = f"{int(time.time())}"
    names = [node.name for node in config.nodes.values()]
    addresses = [instance.nics[0].ip for instance in config.instances.values()]
    for number in range(count):
        salt = f"9aa6ce92-8336-11de-{flight:04x}-{number:012x}"
        if number % 2:
            kind, query = RequestType.NODE_ROLE_BYNAME, msgspec.json.encode(names[number % len(names)])
        else:
            kind = RequestType.NODE_PIP_BY_INSTANCE_IP
            query = msgspec.json.encode({"1": addresses[number % len(addresses)]})
        yield salt, sign(KEY, Body.of(Request(kind, salt, msgspec.Raw(query))), now)


def rate(port: int, queries: list[tuple[str, bytes]], flight: int, *, check: bool) -> float:
    """Answers a second, with so many queries on their way at any time."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * 1024 * 1024)
        client.connect((ADDRESS, port))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, LOST.to_bytes(8, "little") + bytes(8))
        datagrams = [datagram for _, datagram in queries]
        answers: list[bytes] = []
        receive, send, keep = client.recv, client.send, answers.append
        begun = time.perf_counter()
        try:
            for datagram in datagrams[:flight]:
                send(datagram)
            for datagram in datagrams[flight:]:
                keep(receive(65535))
                send(datagram)
            for _ in datagrams[:flight]:
                keep(receive(65535))
        except BlockingIOError:
            raise SystemExit(f"no answer for {LOST} s after {len(answers)} answers") from None
        elapsed = time.perf_counter() - begun
    if check:
        salts = sorted(envelope_of(answer).salt for answer in answers)
        if salts != sorted(salt for salt, _ in queries):
            raise SystemExit("answers are missing or wrong")
    return len(queries) / elapsed


class Echo:
    """A process that sends back what it gets; no server in Python can be quicker."""

    def __enter__(self) -> "Echo":
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind((ADDRESS, 0))
        self.port: int = server.getsockname()[1]
        self._process = multiprocessing.get_context("fork").Process(target=echo, args=(server,), daemon=True)
        self._process.start()
        server.close()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.join()


def echo(server: socket.socket) -> None:
    """Until the end."""
    while True:
        datagram, address = server.recvfrom(65535)
        server.sendto(datagram, address)


if __name__ == "__main__":
    sys.exit(main())
