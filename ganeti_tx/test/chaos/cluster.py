"""The cluster under the campaign: a supervised devcluster, each node's data on a small disk of its own where that can be had."""

import json
import os
import subprocess
from pathlib import Path

from ganeti_tx.devcluster.layout import DevNode, plan
from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.devcluster.supervising import start_supervisor
from ganeti_tx.devcluster.up import init_options, prepare, run
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import holder
from ganeti_tx.test.real.command_line import command_line
from ganeti_tx.test.real.programs import SOURCE, Programs, until

#: MiB of a node's disk.
DISK_SIZE = 48
PARTS = ("ganeti-wconfd", "ganeti-luxid")


class CampaignCluster:
    """Nodes below a directory; `close` ends every process and unmounts what was mounted."""

    def __init__(self, directory: Path, nodes: int, apart: bool) -> None:
        self.layout = plan(directory / "c", nodes)
        self.apart = apart
        self.disks = False
        self._mounted: list[Path] = []
        Programs(directory)
        os.environ["PATH"] = f"{directory / 'bin'}:{os.environ.get('PATH', '/usr/bin:/bin')}"
        os.environ["PYTHONPATH"] = str(SOURCE)

    @property
    def master(self) -> DevNode:
        """The node with the job queue."""
        return self.layout.master

    def paths(self, node: DevNode) -> Paths:
        """A node's files."""
        return Paths(node.root)

    @property
    def socket(self) -> str:
        """Where luxid listens."""
        return str(self.paths(self.master).query_socket)

    def up(self) -> None:
        """Make the cluster."""
        prepare(self.layout)
        self.disks = os.geteuid() == 0 and all(self._mount(node) for node in self.layout.nodes)
        options = init_options(self.layout, ["--enabled-hypervisors=fake"])
        run(self.master, ["gnt-cluster", "init", *options, self.layout.cluster_name])
        for node in self.layout.nodes[1:]:
            run(self.master, ["gnt-node", "add", node.name])
        if self.apart:
            run(self.master, ["gnt-debug", "delay", "0"])
            os.kill(self.process(self.master, "ganeti-master") or 0, 15)
            until(lambda: self.process(self.master, "ganeti-master") is None, "the end of ganeti-master")
            for part in PARTS:
                run(self.master, [part])
        start_supervisor(self.layout)

    def _mount(self, node: DevNode) -> bool:
        path = self.paths(node).data_dir
        path.mkdir(parents=True, exist_ok=True)
        argv = ["mount", "-t", "tmpfs", "-o", f"size={DISK_SIZE}m,mode=750", "ganeti-chaos", str(path)]
        mounted = subprocess.run(argv, capture_output=True, check=False, timeout=30).returncode == 0
        if mounted:
            self._mounted.append(path)
        return mounted

    def master_daemons(self) -> tuple[str, ...]:
        """What runs on the master besides its node daemon."""
        return PARTS if self.apart else ("ganeti-master",)

    def process(self, node: DevNode, daemon: str) -> int | None:
        """The process of a daemon that runs."""
        return holder(self.paths(node).pid_file(daemon))

    def runners(self) -> list[int]:
        """Every process that runs jobs or waits for some."""
        found = (int(path.name.split("_")[1]) for path in self.paths(self.master).livelock_dir.glob("job_*"))
        return sorted(process for process in found if b"ganeti_tx.jobs.zygote" in command_line(process))

    def lock_owners(self) -> set[str]:
        """The livelocks of those that hold locks, by locks.data."""
        try:
            owners = json.loads(self.paths(self.master).locks_file.read_bytes())
        except FileNotFoundError:
            return set()
        return {owner["livelock"] for owner in owners}

    def busy_runners(self) -> list[int]:
        """Those of them that hold locks."""
        busy = {int(Path(livelock).name.split("_")[1]) for livelock in self.lock_owners()}
        return [process for process in self.runners() if process in busy]

    def zygote(self) -> int | None:
        """The zygote of the luxid that runs."""
        luxid = self.process(self.master, self.master_daemons()[-1])
        if luxid is None:
            return None
        for child in children(luxid):
            if b"ganeti_tx.jobs.zygote" in command_line(child):
                return child
        return None

    def serial(self, node: DevNode) -> int | None:
        """The serial number of a node's copy of the configuration."""
        try:
            return int(json.loads(self.paths(node).config_file.read_bytes())["serial_no"])
        except FileNotFoundError:
            return None

    def close(self) -> None:
        """Leave nothing."""
        end_all(self.layout.root)
        for path in self._mounted:
            subprocess.run(["umount", "-l", str(path)], check=False, timeout=30)


def children(process: int) -> list[int]:
    """The processes that a process started and that live."""
    try:
        return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []
