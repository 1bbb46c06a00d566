"""How long a live migration takes by `gnt-instance migrate`, beside the same machine's by two QEMUs and QMP alone.

Prints a table and JSON: medians in milliseconds, and how many times as long ours take. `total` and `down` are QEMU's own figures
(the transfer, and how long the guest stood still); `wall` is what an operator waits: of the command from its start to its
end, and by hand from the start of the second QEMU until it runs the machine. The guest is without KVM, and does nothing.
"""

import argparse
import json
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from qemu_by_hand import QEMU, Machine, sent_by_hand, wait_for_prompt

from ganeti_tx.devcluster.layout import DevNode, Layout
from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.devcluster.up import run, up
from ganeti_tx.node.hypervisor.kvm.layout import instance_layout
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.shipped import shipped

NAME = "bench.dev.example"
MEMORY = 128
DISK = 64
BANDWIDTH = 500
DOWNTIME = 30
CACHE = Path(__file__).resolve().parents[1] / ".cache" / "guest"
TOLD = re.compile(r"total time ([0-9.]+) s, the guest stood still for (\d+) ms")

Figures = dict[str, float]


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def create(layout: Layout) -> None:
    """The instance, which runs on the second node."""
    parameters = [
        f"kernel_path={CACHE / 'vmlinux'}",
        f"initrd_path={CACHE / 'initrd.img'}",
        "kernel_args=quiet",
        "root_path=/dev/vda",
        "serial_console=true",
        "kvm_flag=disabled",
        "vnc_bind_address=",
        f"migration_bandwidth={BANDWIDTH}",
        f"migration_downtime={DOWNTIME}",
        f"migration_port={free_port()}",
    ]
    run(layout.master, ["gnt-cluster", "modify", "-H", f"kvm:{','.join(parameters)}"])
    words = f"-t sharedfile --disk 0:size={DISK}M -B memory={MEMORY} -n {layout.nodes[1].name} --ignore-ipolicy"
    words += " --no-install --no-name-check --no-ip-check -o busybox+default"
    run(layout.master, ["gnt-instance", "add", *words.split(), NAME])
    run(layout.master, ["gnt-instance", "startup", NAME])  # what has no system installed is not started


def migrated(layout: Layout, target: DevNode) -> Figures:
    """One migration by the command."""
    begun = time.monotonic()
    said = run(layout.master, ["gnt-instance", "migrate", "-f", "-n", target.name, NAME])
    wall = (time.monotonic() - begun) * 1000
    if (told := TOLD.search(said)) is None:
        raise SystemExit(f"the command does not tell how long it took:\n{said}")
    return {"wall": wall, "total": float(told[1]) * 1000, "down": float(told[2])}


def in_turns(directory: Path, rounds: int) -> tuple[list[Figures], list[Figures]]:
    """By the command, there and back on a cluster of its own, and by hand: what else the machine does meets both alike."""
    layout = up(directory / "dc", 3, ["--enabled-hypervisors=kvm", "--enabled-disk-templates=sharedfile,diskless,file"])
    ours, hand = [], []
    try:
        create(layout)
        wait_for_prompt(instance_layout(Paths(layout.nodes[1].root), NAME).serial)
        for number in range(rounds):
            (own := directory / str(number)).mkdir()
            hand.append(sent_by_hand(same_machine(directory), own, free_port()))
            ours.append(migrated(layout, layout.nodes[2 - number % 2]))
    finally:
        end_all(directory / "dc")
    return ours, hand


def same_machine(directory: Path) -> Machine:
    """The same as the cluster's, which is booted anew each time."""
    disk = directory / "disk"
    with disk.open("wb") as file:
        file.truncate(DISK << 20)
    return Machine(CACHE / "vmlinux", CACHE / "initrd.img", disk, MEMORY, BANDWIDTH, DOWNTIME)


def main() -> None:
    """Both, in turns, on this machine."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=4, help="migrations of each kind")
    arguments = options.parse_args()
    if shutil.which(QEMU) is None:
        raise SystemExit(f"{QEMU} is not installed")
    subprocess.run([str(shipped("os") / "busybox" / "make-guest"), str(CACHE)], check=True)
    with tempfile.TemporaryDirectory(prefix="gtx-bench-", dir="/tmp") as directory:
        ours, hand = in_turns(Path(directory), arguments.rounds)
    show(ours, hand)


def show(ours: list[Figures], hand: list[Figures]) -> None:
    """Medians and ratios."""
    result = {}
    print(f"{'ms':8} {'ganeti_tx':>10} {'by hand':>10} {'ratio':>8}")
    for figure in ("wall", "total", "down"):
        own, other = (statistics.median(each[figure] for each in every) for every in (ours, hand))
        result[figure] = {"ganeti_tx": round(own, 1), "by hand": round(other, 1), "ratio": round(own / other, 2)}
        print(f"{figure:8} {own:10.1f} {other:10.1f} {own / other:8.2f}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
