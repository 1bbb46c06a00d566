#!/usr/bin/env python3
"""How long lists and details take in large clusters, from the start of the command to its end; prints a table and JSON.

The master is real; one process answers as all the other nodes (`many_nodes.py`). The median of some runs counts. Where bin/test has
unpacked Debian's package, Ganeti's own `gnt-instance list` runs on the same socket in turn with ours.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import msgspec
from fill import CONFIG_MODE, filled
from many_nodes import READY
from timed import Command, Taken, in_turn

from ganeti_tx.bootstrap.keys import write_private
from ganeti_tx.bootstrap.start import socket_answers, stop
from ganeti_tx.devcluster.layout import DOMAIN, Layout
from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.devcluster.up import run, up
from ganeti_tx.model.config_data import ConfigData, decode, encode
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.network import Network
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.real.test_stock_commands import AS_ON_NODE, COMMANDS, stock_environment, why_not

HERE = Path(__file__).parent
WIDTH = 110
MASTER = "ganeti-master"
#: Milliseconds that `gnt-instance list` may take of what is configured, by the number of instances; and of what nodes tell.
STATIC_LIMITS, LIVE_LIMIT = {2000: 60.0, 10000: 150.0}, 1000.0
STATIC = "gnt-instance list -o name,hypervisor,os,pnode,admin_state,be/memory"
USUAL = "gnt-instance list"
LIVE = (USUAL, "gnt-instance list -o +oper_vcpus,oper_state", "gnt-node list")
OTHERS = (
    "gnt-instance list --no-headers --separator=: -o name,pnode,disk_usage,be/maxmem,hvparams,nic.macs,tags,ctime",
    "gnt-instance list filler7.dev.example",
    "gnt-node list -o name,role,group,pinst_cnt,sinst_cnt",
    "gnt-group list",
    "gnt-network list",
    "gnt-job list",
    "gnt-os list",
    "gnt-instance info filler7.dev.example",
    "gnt-instance info --all --static",
    "gnt-instance info --all",
    "gnt-node info",
    "gnt-cluster info",
)


def crowded(config: ConfigData, nodes: int, instances: int) -> ConfigData:
    """A cluster of one node with others beside it, nine of ten instances that should run, and a network."""
    [master] = config.nodes.values()
    block = master.primary_ip.rpartition(".")[0]
    others = {}
    for number in range(2, nodes + 1):
        uuid, address = f"00000000-0000-4000-8000-{number:012}", f"{block}.{number}"
        others[uuid] = msgspec.structs.replace(
            master, uuid=uuid, name=f"node{number}.{DOMAIN}", primary_ip=address, secondary_ip=address,
            master_candidate=False,
        )  # fmt: skip
    network = Network(uuid="00000000-0000-4000-8001-000000000000", name="net1", network="192.0.2.0/24", serial_no=1)
    [group] = config.nodegroups.values()
    members = msgspec.structs.replace(group, members=(*group.members, *others))
    whole = msgspec.structs.replace(
        config, nodes={**config.nodes, **others}, networks={network.uuid: network}, nodegroups={group.uuid: members}
    )
    whole = filled(whole, instances)
    started = {
        uuid: each if number % 10 == 0 else msgspec.structs.replace(each, admin_state=AdminState.UP, disks_active=True)
        for number, (uuid, each) in enumerate(whole.instances.items())
    }
    return msgspec.structs.replace(whole, instances=started)


class Bench:
    """One cluster, and what its commands take, in milliseconds."""

    def __init__(self, layout: Layout, instances: int, nodes: int, runs: int) -> None:
        self.layout = layout
        self.paths = Paths(layout.master.root)
        self.instances, self.nodes, self.runs = instances, nodes, runs
        # what is set here for tests of the checkout would have each run compile, and write without a buffer
        usual = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self.environment = layout.master.environment(usual)
        self.figures: dict[str, float] = {}

    def fill(self) -> None:
        """Stop the master, and write the large configuration."""
        stop(self.paths, MASTER)
        config = crowded(decode(self.paths.config_file.read_bytes()), self.nodes, self.instances)
        write_private(self.paths.config_file, encode(config), CONFIG_MODE)

    @contextmanager
    def running(self, silent: int) -> Iterator[None]:
        """The other nodes, so many of which say nothing, and the master."""
        argv = [sys.executable, str(HERE / "many_nodes.py"), str(self.paths.root), str(silent)]
        with subprocess.Popen(argv, stdout=subprocess.PIPE) as others:
            try:
                assert others.stdout is not None
                if others.stdout.readline() != READY:
                    raise SystemExit("the process that stands for the nodes did not start")
                run(self.layout.master, [MASTER, "--no-voting", "--yes-do-it"])
                answers = socket_answers(self.paths.query_socket)
                while not answers():
                    time.sleep(0.05)
                yield
            finally:
                stop(self.paths, MASTER)
                others.terminate()

    def ours(self, line: str) -> Command:
        """One of our commands."""
        program, *words = line.split()
        return Command([str(Path(sys.executable).parent / program), *words], self.environment)

    def measure(self, line: str, limit: float | None = None, note: str = "") -> None:
        """Time a command."""
        [taken] = in_turn([self.ours(line)], self.runs)
        self.add(line + note, taken, limit)

    def beside_stock(self, line: str) -> None:
        """Time Ganeti's own command and ours in turn: the same command, the same socket."""
        program, *words = line.split()
        stock = Command([str(COMMANDS / program), *words], stock_environment())
        done = subprocess.run(
            ["unshare", "-m", "sh", "-ec", AS_ON_NODE, "sh", sys.executable, str(HERE / "timed.py")],
            env={**self.environment, "NODE": str(self.paths.root)},
            input=msgspec.json.encode(([self.ours(line), stock], self.runs)),
            stdout=subprocess.PIPE,
            check=True,
        )
        ours, theirs = msgspec.json.decode(done.stdout, type=list[list[Taken]])
        self.add(f"{line}, in turn with Ganeti's", ours)
        self.add(f"{line}, Ganeti's own", theirs)
        ratio = median(a.wall / b.wall for a, b in zip(ours, theirs, strict=True))
        self.figures[f"{line}, ours to Ganeti's own"] = ratio
        self.tell(f"{line}, ours to Ganeti's own: {ratio:.3f}")

    def add(self, title: str, runs: Sequence[Taken], limit: float | None = None) -> None:
        """One row."""
        walls = [taken.wall for taken in runs]
        self.figures[title] = median(walls)
        ratio = "" if limit is None else f"{median(walls) / limit:7.2f} of {limit:.0f}"
        computing = median(taken.computing for taken in runs)
        self.tell(f"{title:{WIDTH}} {median(walls):9.1f} {min(walls):9.1f} {computing:9.1f} {ratio}")

    def tell(self, text: str) -> None:
        """Print it at once."""
        print(f"{self.instances:6} {self.nodes:5}  {text}", flush=True)

    def measure_all(self, silent: int) -> None:
        """Every figure."""
        with self.running(0):
            self.measure(STATIC, STATIC_LIMITS.get(self.instances))
            self.measure(USUAL, STATIC_LIMITS.get(self.instances))
            for line in LIVE[1:]:
                self.measure(line, LIVE_LIMIT)
            for line in OTHERS:
                self.measure(line)
            if why_not() is None:
                self.beside_stock(STATIC)
                self.beside_stock(USUAL)
        with self.running(silent):
            for line in (*LIVE, "gnt-instance info filler7.dev.example"):
                self.measure(line, LIVE_LIMIT, f", {silent} nodes silent")


def main() -> None:
    """Bring a cluster up for each size, measure, take it down."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--sizes", nargs="+", default=["2000x50", "10000x200"], help="instances x nodes, at most 250 nodes"
    )
    options.add_argument("--runs", type=int, default=9, help="of each command; three of slow ones")
    options.add_argument("--silent", type=int, default=3, help="nodes that take calls and do not answer")
    options.add_argument("--directory", default="/tmp", help="where the master's files are made")
    arguments = options.parse_args()
    figures = {}
    print(
        f"{'inst.':>6} {'nodes':>5}  {'command':{WIDTH}} {'median ms':>9} {'least ms':>9} {'CPU ms':>9}   of what is wanted"
    )
    for size in arguments.sizes:
        instances, nodes = map(int, size.split("x"))
        with tempfile.TemporaryDirectory(prefix="gtx-lists-", dir=arguments.directory) as directory:
            root = Path(directory) / "c"
            layout = up(root, 1, ["--enabled-hypervisors=fake"])
            try:
                bench = Bench(layout, instances, nodes, arguments.runs)
                bench.fill()
                bench.measure_all(arguments.silent)
            finally:
                end_all(root)
        figures[size] = {title: round(figure, 3) for title, figure in bench.figures.items()}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
