"""The keys of a cluster of real processes are replaced, while every candidate calls every node all the time."""

import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.bootstrap.keys import utc_now
from ganeti_tx.devcluster.up import up
from ganeti_tx.runtime.certificates import create_authority, issue_server
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.real.devcluster import DevClusterUnderTest, commands_are_installed
from ganeti_tx.test.real.programs import is_gone, until

RENEW = "gnt-cluster renew-crypto -f"
ALL = f"{RENEW} --new-cluster-certificate --new-confd-hmac-key"
#: Seconds for a job to begin a step, and for daemons to be back.
SOON = 240.0
ROUNDS = re.compile(r"^ROUNDS: (\d+)$", re.MULTILINE)


class RenewTests(SynchronousTestCase):
    """A devcluster of three candidates."""

    timeout = 1200

    def setUp(self) -> None:
        if not commands_are_installed():
            raise SkipTest("the commands are not installed beside this Python (pip install -e .)")
        self.cluster = DevClusterUnderTest(("--enabled-hypervisors=fake",))
        self.addCleanup(self.cluster.close)
        self.nodes = self.cluster.layout.nodes
        self.paths = [Paths(Path(node.root)) for node in self.nodes]

    # Those who call

    def callers(self) -> list[subprocess.Popen[str]]:
        """One on each node."""
        where = [f"{node.name}={node.address}" for node in self.nodes]
        command = [sys.executable, "-m", "ganeti_tx.test.real.callers", *where]
        begun = [
            subprocess.Popen(
                command,
                env=node.environment(os.environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for node in self.nodes
        ]
        for each in begun:
            self.addCleanup(each.kill)
        return begun

    def assert_all_well(self, callers: Sequence["subprocess.Popen[str]"], least: int = 1) -> None:
        """None of their calls failed, and there were some."""
        for each in callers:
            said, _ = each.communicate("", timeout=120)
            self.assertNotIn("FAILED", said)
            found = ROUNDS.search(said)
            assert found is not None, said
            self.assertGreaterEqual(int(found[1]), least)

    def assert_all_talk(self) -> None:
        """At this moment."""
        self.assert_all_well(self.callers())

    # The job

    def newest_job(self) -> Path | None:
        """Its file, if it renews."""
        found = sorted(self.paths[0].queue_dir.glob("job-*"), key=lambda path: int(path.name[4:]))
        return found[-1] if found else None

    def kill_at(self, step: int) -> bool:
        """Begin to renew, and kill the process of the job when it begins a step; false: it ended before that."""
        before = self.newest_job()
        program = str(Path(sys.executable).parent / "gnt-cluster")
        command = subprocess.Popen(
            [program, *ALL.split()[1:]],
            env=self.nodes[0].environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.addCleanup(command.kill)
        limit = time.monotonic() + SOON
        killed = False
        while command.poll() is None and not killed:
            self.assertLess(time.monotonic(), limit)
            path = self.newest_job()
            job = json.loads(path.read_text()) if path is not None and path != before else {}
            steps = [entry[3]["step"] for op in job.get("ops", ()) for entry in op["log"] if entry[2] == "step"]
            if steps and steps[-1] >= step:
                os.kill(job["process_id"], signal.SIGKILL)
                killed = True
            time.sleep(0.005)
        said, _ = command.communicate(timeout=SOON)
        self.assertNotIn("Traceback", said)
        return killed and command.returncode != 0

    def daemon(self, name: str, number: int) -> int:
        """The process of a daemon; 0 when there is none."""
        path = self.paths[number - 1].pid_file(name)
        return int(path.read_text() or 0) if path.exists() else 0

    def read(self, number: int, name: str) -> bytes:
        """A file of a node."""
        return (self.paths[number - 1].data_dir / name).read_bytes()

    def test_all(self) -> None:
        """Everything is replaced, on all nodes, and nobody's call failed; the Remote API and confd answer with the new ones."""
        own = ("client.pem", "server.pem", "ca.pem", "ca.key", "rapi.pem", "hmac.key")
        shared = ("spice.pem", "spice-ca.pem", "cluster-domain-secret")
        before = {self.read(number, name) for number in (1, 2, 3) for name in own + shared}
        callers = self.callers()
        more = "--new-rapi-certificate --new-spice-certificate --new-cluster-domain-secret"
        said = self.cluster.ok(f"{ALL} --new-node-certificates {more}")
        self.assertIn("All requested certificates and keys have been replaced", said)
        self.assert_all_well(callers, 3)
        self.assertEqual(before & {self.read(number, name) for number in (1, 2, 3) for name in own + shared}, set())
        for name in own[2:] + shared:
            self.assertEqual(len({self.read(number, name) for number in (1, 2, 3)}), 1, name)
        self.assertEqual(self.read(1, "ca.pem").count(b"BEGIN CERTIFICATE"), 1)
        self.cluster.ok("gnt-cluster verify")
        self.cluster.ok("ganeti-confd-client ping")
        context = ssl.create_default_context(cafile=str(self.paths[0].authority_pem))
        context.check_hostname = False
        with socket.create_connection((self.nodes[0].address, 5080), timeout=30) as plain:
            context.wrap_socket(plain).close()
        added = self.cluster.ok("gnt-node list --no-headers -o name")
        self.assertEqual(len(added.split()), 3)

    def test_given(self) -> None:
        """Certificates of the administrator's come to all nodes; what is none is refused, and nothing changes."""
        directory = self.cluster.directory
        authority = create_authority("somebody", utc_now())
        own = issue_server(authority, ["cluster.dev.example"], utc_now())
        for name, data in (("own.pem", own.bundle), ("ca.pem", authority.certificate), ("secret", b"of both\n")):
            (directory / name).write_bytes(data)
        before = self.read(1, "rapi.pem")
        for options in (f"--rapi-certificate={directory}/ca.pem", f"--cluster-domain-secret={directory}/none"):
            status, _, err = self.cluster.run([*RENEW.split(), options])
            self.assertEqual(status, 1)
            self.assertIn(str(directory), err)
        self.assertEqual(self.read(1, "rapi.pem"), before)
        spice = f"--spice-certificate={directory}/own.pem --spice-ca-certificate={directory}/ca.pem"
        rest = f"--rapi-certificate={directory}/own.pem --cluster-domain-secret={directory}/secret"
        self.cluster.ok(f"{RENEW} {spice} {rest}")
        for number in (1, 2, 3):
            for name in ("rapi.pem", "spice.pem"):
                self.assertEqual(self.read(number, name), own.bundle)
            self.assertEqual(self.read(number, "spice-ca.pem"), authority.certificate)
            self.assertEqual(self.read(number, "cluster-domain-secret"), b"of both\n")

    def test_killed(self) -> None:
        """The job's process is killed at each step: nobody's call ever fails, and the same command then succeeds."""
        steps = 9
        callers = self.callers()
        killed = [step for step in range(1, steps + 1) if self.kill_at(step)]
        self.assertGreaterEqual(len(killed), steps - 1)
        self.cluster.ok(ALL)
        self.assert_all_well(callers, 10)
        self.assertEqual(self.read(2, "ca.pem").count(b"BEGIN CERTIFICATE"), 1)
        self.cluster.ok("gnt-cluster verify")

    def test_daemons_killed(self) -> None:
        """With the job a node's daemon is killed, then the master's; all talk when they are back."""
        state = ""
        for name, number, step in (("ganeti-noded", 2, 6), ("ganeti-master", 1, 3), ("ganeti-noded", 1, 8)):
            process = self.daemon(name, number)
            self.kill_at(step)
            os.kill(process, signal.SIGKILL)
            until(partial(is_gone, process), "its end")  # else it counts as one that runs
            up(self.cluster.layout.root, 3, [])
            limit = time.monotonic() + SOON
            while self.daemon(name, number) in (0, process) or (state := self.state()) != "all answer":
                self.assertLess(time.monotonic(), limit, f"{name} of node {number}: {state}")
                time.sleep(0.2)
            self.assert_all_talk()
            self.cluster.ok(ALL)
            self.assert_all_talk()

    def state(self) -> str:
        """Whether the master answers, and hears all nodes."""
        status, out, err = self.cluster.run(["gnt-node", "list", "--no-headers", "-o", "name,bootid"])
        return "all answer" if status == 0 and len(out.split()) == 6 and "?" not in out else out + err
