"""What attacks cost: each daemon's memory before, at the height of and after each attack on its sockets, in MiB.

A line a attack; "served" is how long somebody else then waited for a job and for live data of a node.
"""

import argparse
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from ganeti_tx.test.real.attacks import MIB, ON_NODES, ON_SOCKETS, Attack, Memory, Target, anybody
from ganeti_tx.test.real.programs import SmallCluster

NODE_PORT = 1811


def main() -> int:
    """Run the attacks that are named, or all, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attacks", nargs="*", help=f"of {', '.join([*ON_SOCKETS, *ON_NODES])}; all without any")
    wanted = parser.parse_args().attacks or [*ON_SOCKETS, *ON_NODES]
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    cluster = SmallCluster()
    try:
        cluster.init()
        served(cluster)
        print(f"{'daemon':14} {'socket':8} {'attack':18} {'before':>7} {'peak':>7} {'after':>7} {'served':>7}  heard")
        for daemon, name, attacks, make in targets(cluster):
            for attack, run in attacks.items():
                if attack in wanted:
                    print(f"{daemon:14} {name:8} {attack:18} {measured(cluster, daemon, run, make())}", flush=True)
    finally:
        cluster.close()
    return 0


def targets(cluster: SmallCluster) -> list[tuple[str, str, dict[str, Attack], Callable[[], Target]]]:
    """Each daemon's sockets, what is done to them, and what makes a target."""
    run = cluster.node.root / "var/run/ganeti/socket"
    certificate = cluster.node.root / "var/lib/ganeti/client.pem"
    return [
        ("ganeti-master", "LUXI", ON_SOCKETS, lambda: Target(path=run / "ganeti-query")),
        ("ganeti-master", "WConfD", ON_SOCKETS, lambda: Target(path=run / "ganeti-wconfd")),
        (
            "ganeti-noded",
            "calls",
            ON_NODES,
            lambda: Target(address=(cluster.node.address, NODE_PORT), tls=anybody(certificate)),
        ),
    ]


def measured(cluster: SmallCluster, daemon: str, attack: Attack, target: Target) -> str:
    """The row of an attack."""
    memory = Memory(cluster.process(daemon))
    before = memory.now()
    memory.forget_peak()
    heard = attack(target)
    start = time.monotonic()
    served(cluster)
    waited = time.monotonic() - start
    peak = memory.peak()
    target.close()
    served(cluster)
    sizes = " ".join(f"{size / MIB:7.1f}" for size in (before, peak, memory.now()))
    return f"{sizes} {waited:6.1f}s  {heard[:120]}"


def served(cluster: SmallCluster) -> None:
    """A job, and live data of a node."""
    cluster.must("gnt-debug", "delay", "0")
    cluster.must("gnt-node", "list", "--no-headers", "-o", "name,dtotal")


if __name__ == "__main__":
    sys.exit(main())
