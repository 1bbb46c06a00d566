"""How fast a devcluster of three nodes makes, changes and removes instances; prints a table and JSON.

Twenty instances on the fake hypervisor with a disk in a file each, all jobs submitted at once: they share the nodes' locks. Then
forty changes on these twenty, two for each, which wait for one another's locks.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from jobs import wait_for_all

from ganeti_tx.devcluster.layout import Layout
from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.devcluster.up import up
from ganeti_tx.luxi.client import Client

Op = dict[str, Any]


def name_of(number: int) -> str:
    """Of an instance."""
    return f"bench{number}.dev.example"


def creation(layout: Layout, number: int) -> Op:
    """One instance, which is not started."""
    return {
        "OP_ID": "OP_INSTANCE_CREATE",
        "reason": [],
        "instance_name": name_of(number),
        "mode": "create",
        "disk_template": "file",
        "disks": [{"size": 1024}],
        "nics": [{}],
        "hypervisor": "fake",
        "pnode": layout.nodes[number % len(layout.nodes)].name,
        "no_install": True,
        "name_check": False,
        "ip_check": False,
    }


def change(number: int, vcpus: int) -> Op:
    """Another number of processors."""
    return {
        "OP_ID": "OP_INSTANCE_SET_PARAMS",
        "reason": [],
        "instance_name": name_of(number),
        "beparams": {"vcpus": vcpus},
    }


def removal(number: int) -> Op:
    """The end of one."""
    return {"OP_ID": "OP_INSTANCE_REMOVE", "reason": [], "instance_name": name_of(number), "ignore_failures": False}


def a_second(client: Client, ops: list[Op]) -> float:
    """So many jobs a second, all submitted in one call."""
    start = time.monotonic()
    answers = client.submit_many_jobs([[op] for op in ops])
    if refused := [answer for taken, answer in answers if not taken]:
        raise SystemExit(f"a job was refused: {refused[0]}")
    wait_for_all(client, [int(answer) for _, answer in answers])
    return len(ops) / (time.monotonic() - start)


def measure(layout: Layout, count: int) -> dict[str, float]:
    """All figures."""
    numbers = range(count)
    with Client(str(layout.master.root / "var/run/ganeti/socket/ganeti-query")) as client:
        a_second(client, [creation(layout, count)])  # whatever is done once only
        a_second(client, [removal(count)])
        return {
            "instances made a second": a_second(client, [creation(layout, number) for number in numbers]),
            "instances changed a second, two changes each": a_second(
                client, [change(number, vcpus) for vcpus in (1, 2) for number in numbers]
            ),
            "instances removed a second": a_second(client, [removal(number) for number in numbers]),
        }


def main() -> None:
    """Bring a devcluster up, measure, take it down."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--instances", type=int, default=20, help="so many")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="gtx-bench-", dir="/tmp") as directory:
        root = Path(directory) / "dc"
        layout = up(root, 3, ["--enabled-hypervisors=fake"])
        try:
            figures = measure(layout, arguments.instances)
        finally:
            end_all(root)
    for name, value in figures.items():
        print(f"{name:45} {value:10.1f}")
    print(json.dumps({name: round(value, 2) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
