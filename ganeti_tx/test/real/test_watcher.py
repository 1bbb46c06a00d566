"""ganeti-watcher on the nodes of a devcluster: what died comes back."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase, TestCase

from ganeti_tx.devcluster.layout import DevNode
from ganeti_tx.devcluster.running import missing_daemons
from ganeti_tx.node.hypervisor.kvm.layout import instance_layout
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import holder
from ganeti_tx.test.real.devcluster import DevClusterUnderTest, commands_are_installed
from ganeti_tx.test.real.guest import make_guest
from ganeti_tx.test.real.kvm_node import SerialConsole, until

ADD = "gnt-instance add -t diskless --no-install -o busybox+default -n {} --no-name-check --no-ip-check {}"
WEB1, WEB2 = "web1.dev.example", "web2.dev.example"
SCRIPT = "#!/bin/sh\necho ran >> {}\n"


class WatcherTests(SynchronousTestCase):
    """Two nodes; nobody else starts daemons that die."""

    skip = None if commands_are_installed() else "the commands are not installed beside this Python"

    def setUp(self) -> None:
        """An instance on each node."""
        self.cluster = DevClusterUnderTest(
            ["--enabled-hypervisors=fake", "--enabled-disk-templates=diskless,file"], nodes=2
        )
        self.addCleanup(self.cluster.close)
        self.master, self.other = self.cluster.layout.nodes
        for node, name in ((self.master, WEB1), (self.other, WEB2)):
            self.cluster.ok(ADD.format(node.name, name))
            self.cluster.ok(f"gnt-instance startup {name}")

    def watch(self, node: DevNode, *options: str) -> int:
        """One run; its exit status. It prints nothing."""
        program = Path(sys.executable).parent / "ganeti-watcher"
        done = subprocess.run(
            [str(program), *options], env=node.environment(os.environ), capture_output=True, timeout=300, check=False
        )
        self.assertEqual((done.stdout, done.stderr), (b"", b""))
        return done.returncode

    def log(self, node: DevNode) -> str:
        """What it has logged there."""
        path = Paths(node.root).watcher_log
        return path.read_text() if path.exists() else ""

    def statuses(self) -> str:
        """Of both instances."""
        return self.cluster.ok("gnt-instance list --no-headers -o status")

    def crash(self, node: DevNode, name: str) -> None:
        """A machine of the fake hypervisor ends by itself."""
        (Paths(node.root).run_dir / "fake-hypervisor" / name).unlink()

    def test_instances(self) -> None:
        """One that should run is started, with words that tell who did it; one that was shut down is left alone."""
        self.crash(self.other, WEB2)
        self.cluster.ok(f"gnt-instance shutdown {WEB1}")
        self.assertEqual(self.statuses().split(), ["ADMIN_down", "ERROR_down"])
        self.assertEqual(self.watch(self.master), 0)
        self.assertEqual(self.statuses().split(), ["ADMIN_down", "running"])
        self.assertIn(f"OP_INSTANCE_STARTUP because {WEB2} is down", self.log(self.master))
        jobs = self.cluster.ok("gnt-job list --no-headers -o summary")
        self.assertEqual(jobs.split().count(f"INSTANCE_STARTUP({WEB2})"), 2)
        status = Paths(self.master.root).instance_status_file.read_text()
        self.assertEqual(status, f"{WEB1} ADMIN_down\n{WEB2} ERROR_down\n")
        self.assertEqual(self.watch(self.master), 0)
        self.assertEqual(Paths(self.master.root).instance_status_file.read_text().split()[3], "running")

    def test_pause(self) -> None:
        """While it is paused it does nothing, unless it is told to ignore that."""
        self.crash(self.other, WEB2)
        self.cluster.ok("gnt-cluster watcher pause 1h")
        self.assertEqual(self.watch(self.master), 0)
        self.assertEqual(self.statuses().split(), ["running", "ERROR_down"])
        self.assertEqual(self.watch(self.master, "--ignore-pause"), 0)
        self.assertEqual(self.statuses().split(), ["running", "running"])
        self.cluster.ok("gnt-cluster watcher continue")
        self.crash(self.other, WEB2)
        self.assertEqual(self.watch(self.master), 0)
        self.assertEqual(self.statuses().split(), ["running", "running"])

    def test_daemons_and_hooks(self) -> None:
        """Daemons that died, or hang, come back, on each node its own; its scripts are run."""
        ran = self.cluster.directory / "ran"
        for node in (self.master, self.other):
            script = Paths(node.root).hooks_dir / "watcher" / "mine"
            script.parent.mkdir(parents=True)
            script.write_text(SCRIPT.format(ran))
            script.chmod(0o755)
        for node, daemon in (
            (self.master, "ganeti-master"),
            (self.other, "ganeti-noded"),
            (self.other, "ganeti-confd"),
        ):
            self.end(node, daemon)
        self.assertEqual(self.watch(self.other), 0)
        self.assertEqual(self.watch(self.master), 0)
        self.assertEqual(set(map(tuple, missing_daemons(self.cluster.layout).values())), {()})
        self.assertEqual(ran.read_text().splitlines(), ["ran", "ran"])
        self.check_hanging()
        self.assertIn("ganeti-noded does not run; starting it", self.log(self.other))

    def check_hanging(self) -> None:
        """A Remote API that does not answer, and does not end when it is asked to, is another process afterwards."""
        path = Paths(self.master.root).pid_file("ganeti-rapi")
        hanging = holder(path)
        assert hanging is not None
        os.kill(hanging, signal.SIGSTOP)
        self.assertEqual(self.watch(self.master), 0)
        self.assertNotIn(holder(path), (hanging, None))

    def test_one_at_a_time(self) -> None:
        """While another run holds the lock of the node, or of the group, nothing is begun."""
        paths = Paths(self.master.root)
        self.crash(self.other, WEB2)
        for path in (paths.watcher_lock_file, paths.watcher_group_lock_file(self.group())):
            with path.open("w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                self.assertEqual(self.watch(self.master), 0)
            self.assertEqual(self.statuses().split(), ["running", "ERROR_down"])
        self.assertIn("an earlier run is at work on it still", self.log(self.master))
        self.assertEqual(self.watch(self.master), 0)
        self.assertEqual(self.statuses().split(), ["running", "running"])

    def group(self) -> str:
        """The only one's uuid."""
        return self.cluster.ok("gnt-node list --no-headers -o group.uuid").split()[0]

    def end(self, node: DevNode, daemon: str) -> None:
        """As a crash does."""
        path = Paths(node.root).pid_file(daemon)
        process = holder(path)
        assert process is not None, daemon
        os.kill(process, signal.SIGKILL)
        while holder(path) is not None:
            time.sleep(0.02)

    def test_words(self) -> None:
        """What stands in the way decides how it ends."""
        self.assertEqual(self.watch(self.other, "-g", self.group()), 11)
        self.assertIn(f"node groups are looked after by the master, {self.master.name}", self.log(self.other))

    def test_given_up(self) -> None:
        """A node that the candidates call offline cuts its machines off by itself; what is left of instances that are gone goes."""
        paths = Paths(self.other.root)
        left = paths.kvm_conf_dir / "gone.dev.example.runtime"
        left.parent.mkdir(parents=True)
        left.parent.parent.chmod(0o700)
        left.write_text('{"name":"gone.dev.example","uuid":"u","memory":1,"vcpus":1,"acceleration":"tcg","argv":[]}')
        self.cluster.ok("gnt-cluster modify --maintain-node-health yes")
        self.assertEqual(self.watch(self.other), 0)
        self.assertFalse(left.exists())
        self.assertIn("removed what instance gone.dev.example had left", self.log(self.other))
        self.assertEqual(self.statuses().split(), ["running", "running"])
        self.cluster.ok(f"gnt-node modify --force --offline yes {self.other.name}")
        self.assertEqual(self.watch(self.other), 0)
        self.assertEqual(list((paths.run_dir / "fake-hypervisor").iterdir()), [])
        self.assertIn(f"instance {WEB2} was cut off", self.log(self.other))
        self.assertEqual(self.watch(self.master), 0)
        self.assertEqual(self.statuses().split(), ["running", "ERROR_nodeoffline"])


class GuestTests(TestCase):
    """A machine under QEMU."""

    timeout = 600
    skip = WatcherTests.skip

    async def setUp(self) -> None:  # type: ignore[override]  # trial waits for it
        """One node with one that runs."""
        guest = await make_guest()
        kernel = f"kernel_path={guest / 'vmlinux'},initrd_path={guest / 'initrd.img'},kernel_args=quiet"
        options = ["--enabled-hypervisors=kvm", "--user-shutdown=yes", "-H", f"kvm:{kernel},user_shutdown=true"]
        self.cluster = DevClusterUnderTest(options, nodes=1)
        self.addCleanup(self.cluster.close)
        self.paths = Paths(self.cluster.layout.nodes[0].root)
        self.cluster.ok(f"{ADD.format('node1', WEB1)}")
        self.cluster.ok(f"gnt-instance startup {WEB1}")

    def statuses(self) -> list[str]:
        """What it is, and what it is meant to be by whom."""
        return self.cluster.ok("gnt-instance list --no-headers -o status,admin_state,admin_state_source").split()

    async def test_killed(self) -> None:
        """Of one whose QEMU was killed the node daemon leaves nothing; it is started again, by another QEMU."""
        pid_file = self.paths.kvm_pid_dir / WEB1
        killed = int(pid_file.read_text())
        os.kill(killed, signal.SIGKILL)
        await until(lambda: not instance_layout(self.paths, WEB1).runtime.exists())
        self.assertEqual(self.statuses(), ["ERROR_down", "up", "admin"])
        self.cluster.ok("ganeti-watcher")
        self.assertEqual(self.statuses(), ["running", "up", "admin"])
        self.assertNotEqual(int(pid_file.read_text()), killed)

    async def test_shut_down_by_its_user(self) -> None:
        """One that was powered off from inside stays down, and the cluster knows who wanted that."""
        console = await SerialConsole.of(instance_layout(self.paths, WEB1))
        console.type(b"")
        await console.wait_for(b"/ # ")
        console.type(b"poweroff -f")
        await console.wait_for(b"Power down")
        for expected in (["USER_down", "up", "admin"], ["USER_down", "down", "user"], ["USER_down", "down", "user"]):
            self.assertEqual(self.statuses(), expected)
            self.assertNotIn("EINSTANCEDOWN", self.cluster.run(["gnt-cluster", "verify", "--error-codes"])[1])
            self.cluster.ok("ganeti-watcher")
