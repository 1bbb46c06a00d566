"""Instances of a real cluster that go from node to node: commands, jobs, node daemons and QEMU."""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

from twisted.trial.unittest import SkipTest

from ganeti_tx.runtime.root_processes import processes_of
from ganeti_tx.test.real.command_line import command_line
from ganeti_tx.test.real.guest import ROOT
from ganeti_tx.test.real.test_devcluster import OS, DevclusterCase
from ganeti_tx.test.real.test_kvm_migration import free_port

NAME = "web1.dev.example"
LIMIT = 300.0


class MigrateTests(DevclusterCase):
    """An instance under QEMU whose disk all nodes reach."""

    timeout = 900

    def setUp(self) -> None:
        if shutil.which("qemu-system-x86_64") is None:
            raise SkipTest("qemu-system-x86_64 is not installed")
        guest = ROOT / ".cache" / "guest"
        if not (guest / "vmlinux").exists():
            status = os.spawnv(os.P_WAIT, str(ROOT / "etc/os/busybox/make-guest"), ["make-guest", str(guest)])
            if status != 0:
                raise SkipTest("no guest kernel can be made on this machine")
        parameters = f"kvm:kernel_path={guest / 'vmlinux'},initrd_path={guest / 'initrd.img'}"
        parameters += ",kernel_args=console=ttyS0 quiet,root_path=/dev/vda,serial_console=true,vnc_bind_address="
        self.options = ("--enabled-hypervisors=kvm", "-H", parameters)
        super().setUp()
        self.ok = self.cluster.ok
        self.ok(f"gnt-cluster modify -H kvm:migration_port={free_port()},migration_bandwidth=500")
        where = "-n node2 -B memory=128 --no-name-check --no-ip-check"
        self.ok(f"gnt-instance add -t sharedfile --disk 0:size=64M --ignore-ipolicy -o {OS} {where} {NAME}")
        self.addCleanup(self.cluster.run, ["gnt-instance", "remove", "-f", "--shutdown-timeout=0", NAME])

    def place(self) -> list[str]:
        """Where it is configured to be, how it is, and on which nodes it has a QEMU."""
        told = self.ok(f"gnt-instance list --no-headers -o pnode,status {NAME}").split()
        return [told[0].split(".")[0], told[1], *self.machines()]

    def machines(self) -> list[str]:
        """The nodes with a QEMU of the instance."""
        root = self.cluster.layout.root
        lines = [b"\0".join(command_line(pid)) for pid in processes_of(root)]
        nodes = [f"node{number}" for number, node in enumerate(self.cluster.layout.nodes, 1) for line in lines
                 if b"-pidfile" in line and os.fsencode(str(node.root)) + b"/" in line]  # fmt: skip
        return sorted(set(nodes))

    def test_walk(self) -> None:
        """There and back, live and not, and by a failover; afterwards it is in one place only."""
        said = self.ok(f"gnt-instance migrate -f -n node3 {NAME}")
        self.assertIn("* memory transfer complete", said)
        self.assertIn("the guest stood still for", said)
        self.assertEqual(self.place(), ["node3", "running", "node3"])
        self.ok(f"gnt-instance migrate -f --non-live -n node2 {NAME}")
        self.assertEqual(self.place(), ["node2", "running", "node2"])
        self.assertIn(
            "confirmed to be running on its primary node", self.ok(f"gnt-instance migrate -f --cleanup {NAME}")
        )
        self.ok(f"gnt-instance failover -f --shutdown-timeout=0 -n node1 {NAME}")
        self.assertEqual(self.place(), ["node1", "running", "node1"])
        self.assertIn("All instances migrated successfully.", self.ok("gnt-node migrate -f -n node3 node1"))
        self.assertEqual(self.place(), ["node3", "running", "node3"])

    def submitted(self) -> str:
        """A migration that takes long, under way."""
        self.ok("gnt-cluster modify -H kvm:migration_bandwidth=1")
        self.ok(f"gnt-instance migrate -f --submit -n node3 {NAME}")
        job = self.ok("gnt-job list --no-headers -o id").split()[-1]
        self.until(lambda: "starting memory transfer" in self.ok(f"gnt-job info {job}"))
        self.until(lambda: self.machines() == ["node2", "node3"])
        return job

    def until(self, true: Callable[[], bool]) -> None:
        """Wait for it."""
        deadline = time.monotonic() + LIMIT
        while not true():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.3)

    def status_of(self, job: str) -> str:
        """Of a job."""
        return self.ok(f"gnt-job list --no-headers -o status {job}").strip()

    def test_cancelled(self) -> None:
        """An operator who cancels the job finds the instance where it was, and nothing elsewhere."""
        job = self.submitted()
        self.cluster.run(["gnt-job", "cancel", "--kill", "--yes-do-it", job])
        self.until(lambda: self.status_of(job) in ("canceled", "error", "success"))
        self.assertEqual(self.status_of(job), "canceled")
        self.assertEqual(self.place(), ["node2", "running", "node2"])

    def test_runner_killed(self) -> None:
        """So does one whose job's process dies."""
        job = self.submitted()
        os.kill(self.runner_of(job), signal.SIGKILL)
        self.until(lambda: self.status_of(job) in ("canceled", "error", "success"))
        self.assertEqual(self.status_of(job), "error")
        self.assertEqual(self.place(), ["node2", "running", "node2"])

    def runner_of(self, job: str) -> int:
        """The process that runs a job, as its file tells."""
        path = next((Path(self.cluster.layout.master.root)).rglob(f"queue/job-{job}"))
        return int(json.loads(path.read_bytes())["process_id"])

    def test_target_killed(self) -> None:
        """When what waits for it dies, it stays where it was."""
        job = self.submitted()
        new = str(self.cluster.layout.nodes[2].root) + "/"
        for pid in processes_of(self.cluster.layout.root):
            line = b"\0".join(command_line(pid))
            if b"-pidfile" in line and os.fsencode(new) in line:
                os.kill(pid, signal.SIGKILL)
        self.until(lambda: self.status_of(job) in ("canceled", "error", "success"))
        self.assertEqual(self.status_of(job), "error")
        self.assertEqual(self.place(), ["node2", "running", "node2"])

    def test_source_killed(self) -> None:
        """When it dies itself, nothing runs elsewhere, and it is started where it was."""
        job = self.submitted()
        old = str(self.cluster.layout.nodes[1].root) + "/"
        for pid in processes_of(self.cluster.layout.root):
            line = b"\0".join(command_line(pid))
            if b"-pidfile" in line and os.fsencode(old) in line:
                os.kill(pid, signal.SIGKILL)
        self.until(lambda: self.status_of(job) in ("canceled", "error", "success"))
        self.assertEqual(self.status_of(job), "error")
        self.assertEqual(self.place(), ["node2", "ERROR_down"])
        self.ok(f"gnt-instance startup {NAME}")
        self.assertEqual(self.place(), ["node2", "running", "node2"])
