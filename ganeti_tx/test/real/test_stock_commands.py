"""Ganeti's own commands against our daemons: they work, and print what ours print."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.real.devcluster import DevClusterUnderTest
from ganeti_tx.test.real.programs import SOURCE

#: Where bin/test unpacks Debian's package; nothing of it is installed.
STOCK = SOURCE / ".cache/stock-commands"
COMMANDS = STOCK / "usr/share/ganeti/3.0"
#: In a mount namespace of their own the commands find the node's files where they look for them.
AS_ON_NODE = """
mount --make-rprivate /
for directory in /var/lib /var/log /run; do mount -t tmpfs none $directory; mkdir $directory/ganeti; done
mount --bind "$NODE/var/lib/ganeti" /var/lib/ganeti
mount --bind "$NODE/var/run/ganeti" /run/ganeti
mount --bind "$NODE/etc/hosts" /etc/hosts
exec "$@"
"""
LIMIT = 300.0
ADD = (
    "gnt-instance add -t file --disk 0:size=1g,name=data -o busybox+default -n node1 -O dhcp=yes -B vcpus=2 "
    "--tags=a,b --no-install --no-start --no-name-check --no-ip-check"
)
SIZES = "disk-count={0},disk-size={0}g,memory-size={0}g,nic-count={0},spindle-use={0},cpu-count={0}"
BOUNDS = f"--ipolicy-bounds-specs=min:{SIZES.format(1)}/max:{SIZES.format(8)}"
#: What both print alike, word for word.
SHOWN = (
    "gnt-cluster getmaster",
    "gnt-cluster list-tags",
    "gnt-cluster version",
    "gnt-cluster queue info",
    "gnt-filter info",
    "gnt-filter list",
    "gnt-filter list-fields",
    "gnt-group list",
    "gnt-group list rack1 -o name,node_list,pinst_list,custom_ndparams,tags,alloc_policy",
    "gnt-group list-fields",
    "gnt-group list-tags rack1",
    "gnt-group show-ispecs-cmd",
    "gnt-group show-ispecs-cmd --include-defaults",
    "gnt-instance info --all",
    "gnt-instance list -o name,status,tags,beparams,custom_beparams,disk.names,disk.sizes,nic.ips,nic.names,console",
    "gnt-instance list --separator=: --no-headers",
    "gnt-instance list-fields",
    "gnt-job list -o id,status,summary,opstatus,opresult,received_ts --separator=:",
    "gnt-job list 1 99999",
    "gnt-job list-fields",
    "gnt-job info 1 99999 2 3",
    "gnt-node info",
    "gnt-node list -v -o name,role,group,powered,pinst_list,tags,ndparams",
    "gnt-node list-fields",
    "gnt-os diagnose",
    "gnt-os list",
)


def why_not() -> str | None:
    """Why the commands cannot be run here."""
    if os.geteuid() != 0:
        return "only root has mount namespaces everywhere"
    if not COMMANDS.exists():
        return f"Ganeti's commands are not in {COMMANDS}; bin/test unpacks them where apt has ganeti-3.0"
    if shutil.which("unshare") is None or not Path("/usr/bin/python3").exists():
        return "unshare or Debian's Python is missing"
    return None


def stock_environment() -> dict[str, str]:
    """In which Ganeti's programs find what they need."""
    return {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(STOCK / "usr/lib/python3/dist-packages"),
        "LD_LIBRARY_PATH": ":".join(map(str, STOCK.glob("usr/lib/*-linux-gnu"))),
    }


def without_fractions(text: str) -> str:
    """Ganeti's daemon sends whole numbers as such, ours as the numbers with a fraction that they are."""
    return re.sub(r"((?:cpu_speed|\w+-ratio): (?:default \()?\d+)\.0\b", r"\1", text)


def unordered(text: str) -> list[str]:
    """The lines without their order, and without the dash before the first of some."""
    return sorted(line.replace("- ", "  ") for line in text.splitlines())


def without_steps(text: str) -> str:
    """What is printed without what a job's log says of steps, which Ganeti's commands print as they come."""
    return re.sub(r"(        - Time: .*\n)?.*(, step, |\{'step': ).*\n", "", text)


class StockCommandTests(SynchronousTestCase):
    """A cluster of one node with an instance, a filter and tags."""

    skip = why_not()

    def setUp(self) -> None:
        self.cluster = DevClusterUnderTest(["--enabled-hypervisors=fake"], nodes=1)
        self.addCleanup(self.cluster.close)
        self.node = self.cluster.layout.master.root
        for words in (
            ["gnt-cluster", "add-tags", "rack1"],
            ["gnt-group", "add", "--node-parameters", "spindle_count=2", "-D", "drbd:metavg=meta", "rack1"],
            ["gnt-group", "modify", "--ipolicy-vcpu-ratio=2.5", "--ipolicy-disk-templates=file", BOUNDS, "rack1"],
            ["gnt-group", "add-tags", "rack1", "east"],
            ["gnt-filter", "add", "--action=RATE_LIMIT 3", "--reason=calm", "--priority=3"],
            [*ADD.split(), "web1.dev.example"],
        ):
            self.assertEqual(self.ours(*words)[0], 0, words)

    def ours(self, *words: str) -> tuple[int, str]:
        """One of our commands: its status and what it printed."""
        status, out, _err = self.cluster.run(list(words))
        return status, out

    def stock(self, *words: str) -> tuple[int, str, str]:
        """One of Ganeti's commands: its status, what it printed and what it complained of."""
        done = subprocess.run(
            ["unshare", "-m", "sh", "-ec", AS_ON_NODE, "sh", str(COMMANDS / words[0]), *words[1:]],
            env={**stock_environment(), "NODE": str(self.node)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def test_shown(self) -> None:
        """Lists and details are the same from both."""
        for line in SHOWN:
            status, out, err = self.stock(*line.split())
            self.assertNotIn("Traceback", err, line)
            ours_status, ours = self.ours(*line.split())
            self.assertEqual((status, without_steps(out)), (ours_status, without_steps(ours)), line)

    def test_cluster_info(self) -> None:
        """The same, but that ours look below the node's own root; Ganeti's show parts of the policy in any order, and know of
        no default node group and no default size of disks.
        """
        (_, out, _), (_, ours) = self.stock("gnt-cluster", "info"), self.ours("gnt-cluster", "info")
        for directory in ("srv/ganeti/os", "srv/ganeti/extstorage", "usr/"):
            ours = ours.replace(f"{self.node}/{directory}", f"/{directory}")
        for own in ("  default node group: default\n", "  default disk size: 0\n"):
            self.assertIn(own, ours)
            ours = ours.replace(own, "")
        self.assertEqual(unordered(ours), unordered(without_fractions(out)))

    def test_backups(self) -> None:
        """Ganeti's command exports, lists, imports and removes; what it says is what ours says."""
        name = "web2.dev.example"
        small = ADD.replace("size=1g", "size=1M").split()
        self.assertEqual(self.ours(*small, "--ignore-ipolicy", name)[0], 0)
        status, said, err = self.stock("gnt-backup", "export", "-n", "node1", name)
        self.assertEqual((status, err), (0, ""))
        self.assertIn(f"Finalizing export on {self.cluster.layout.master.name}\n", said)
        for line in ("gnt-backup list", "gnt-backup list-fields"):
            _, ours = self.ours(*line.split())
            self.assertEqual(self.stock(*line.split()), (0, ours, ""))
        self.assertIn(name, self.ours("gnt-backup", "list")[1])
        self.assertEqual(self.ours("gnt-instance", "remove", "-f", name)[0], 0)
        status, said, err = self.stock(
            "gnt-backup", "import", "-n", "node1", "--no-name-check", "--no-ip-check", "--ignore-ipolicy", name
        )
        self.assertEqual((status, err), (0, ""))
        self.assertIn("* running the instance OS import scripts...\n", said)
        _, listed = self.ours("gnt-instance", "list", "--no-headers", "-o", "status,tags,osparams,disk.names", name)
        self.assertEqual(listed.split(), ["ADMIN_down", "a,b", "{'dhcp':", "'yes'}", "['data']"])
        self.assertEqual(self.stock("gnt-backup", "remove", name)[0], 0)
        self.assertEqual(self.ours("gnt-backup", "list", "--no-headers"), (0, ""))

    def test_group_info(self) -> None:
        """The same, but for the order of bounds."""
        (_, out, _), (_, ours) = self.stock("gnt-group", "info"), self.ours("gnt-group", "info")
        self.assertIn("- Node group: rack1\n", ours)
        self.assertEqual(unordered(ours), unordered(without_fractions(out)))

    def test_statuses(self) -> None:
        """Mistakes end with the same status from both."""
        for line in (
            "gnt-instance list --nosuch",
            "gnt-instance list -o nosuch",
            "gnt-instance list nosuch",
            "gnt-node list-tags",
            "gnt-cluster destroy",
            "gnt-cluster modify",
            "gnt-cluster modify -C x",
            "gnt-cluster modify --default-iallocator=nosuch",
            "gnt-group add rack1",
            "gnt-group add",
            "gnt-group assign-nodes nosuch node1",
            "gnt-group list nosuch",
            "gnt-group list -o nosuch",
            "gnt-group modify --nosuch rack1",
            "gnt-group modify rack1",
            "gnt-group remove default",
            "gnt-group rename nosuch x",
            "gnt-job info x",
        ):
            status, _out, err = self.stock(*line.split())
            self.assertNotIn("Traceback", err, line)
            self.assertEqual(status, self.ours(*line.split())[0], line)

    def test_steps(self) -> None:
        """Their commands print the steps of a job as they are, with what we say in words."""
        told = self.ours("gnt-instance", "startup", "web1.dev.example")[1]
        job_id = re.findall(r"\d+", told)[0]
        _, ours = self.ours("gnt-job", "watch", job_id)
        _, theirs, err = self.stock("gnt-job", "watch", job_id)
        self.assertNotIn("Traceback", err)
        self.assertIn("Step 1 of 2: mark the instance as up", ours)
        self.assertIn("'title': 'mark the instance as up'", theirs)

    def told(self, run: Callable[..., tuple[Any, ...]]) -> list[str]:
        """What is printed of jobs of instances, without their numbers."""
        lines = []
        for words in ("startup", "shutdown", "startup --submit --force-multiple", "shutdown --print-jobid"):
            _status, out, *_err = run("gnt-instance", *words.split(), "web1.dev.example")
            lines.append(re.sub(r"\d+", "N", without_steps(out)))
        return lines

    def test_jobs(self) -> None:
        """A job that they submit is stored as they sent it, and they follow it to its end."""
        status, out, err = self.stock("gnt-debug", "delay", "--print-jobid", "0")
        self.assertEqual((status, err), (0, ""))
        _, shown = self.ours("gnt-job", "info", out.split()[0])
        for line in ("    - Opcode: OP_TEST_DELAY", "        debug_level: 0", "        OP_ID: OP_TEST_DELAY"):
            self.assertIn(line, shown.splitlines())
        self.assertEqual(self.told(self.stock), self.told(self.ours))
        status, out, err = self.stock("gnt-debug", "delay", "--submit", "0")
        self.assertEqual((status, out), (0, ""))
        self.assertRegex(err, r"^JobID: \d+\n$")
