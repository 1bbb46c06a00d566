"""A cluster whose processes die and come back: what becomes of its jobs and their locks."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.root_processes import processes_of
from ganeti_tx.test.real.command_line import command_line
from ganeti_tx.test.real.programs import SmallCluster, is_gone, until

#: What gnt-debug delay is told so that it holds the lock of the node, shared.
LOCKED = ("-n", "node1.dev.example")


class CrashTests(SynchronousTestCase):
    """A cluster of one node."""

    def setUp(self) -> None:
        """A new cluster."""
        self.cluster = SmallCluster()
        self.addCleanup(self.cluster.close)
        self.cluster.init()
        self.node = self.cluster.node

    def command(self, *argv: str) -> "subprocess.CompletedProcess[str]":
        """Run a command as on the node."""
        return self.cluster.programs.run(self.node, *argv)

    def submit(self, *words: str) -> int:
        """The id of a new job that waits as gnt-debug delay is told."""
        return self.cluster.submit("gnt-debug", "delay", *words)

    def running(self, *words: str) -> int:
        """The same when it runs."""
        job_id = self.submit(*words)
        self.reaches(job_id, "running")
        return job_id

    def wants_lock(self) -> int:
        """A job that waits for the lock of the node, exclusively."""
        job_id = self.cluster.submit("gnt-node", "add-tags", self.node.name, "tag")
        self.reaches(job_id, "waiting")
        until(lambda: "exclusive" in self.pending(), "it to wait for the lock")
        return job_id

    def pending(self) -> str:
        """Who waits for locks."""
        return self.cluster.must("gnt-debug", "locks", "--no-headers", "-o", "pending")

    def job(self, job_id: int) -> dict[str, Any]:
        """A job's file."""
        found: dict[str, Any] = json.loads((self.node.root / f"var/lib/ganeti/queue/job-{job_id}").read_bytes())
        return found

    def reaches(self, job_id: int, status: str) -> None:
        """Wait until a job has a status."""
        until(
            lambda: self.status(job_id) == status, f"job {job_id} to be {status}", lambda: f"it is {self.job(job_id)}"
        )

    def status(self, job_id: int) -> str:
        """The status of a job's only opcode."""
        return str(self.job(job_id)["ops"][0]["status"])

    def end(self, daemon: str, number: signal.Signals) -> None:
        """Send a signal to a daemon and wait until it is gone."""
        self.cluster.end(daemon, number)

    def kill_process_of(self, job_id: int) -> int:
        """End the process of a job; its id."""
        process = int(self.job(job_id)["process_id"])
        os.kill(process, signal.SIGKILL)
        until(lambda: is_gone(process), "its end")
        return process

    def zygote(self) -> int:
        """The zygote's process id."""
        for process in processes_of(self.cluster.layout.root):
            words = command_line(process)
            if b"ganeti_tx.jobs.zygote" not in words:
                continue
            parent = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1]
            if int(parent) == self.cluster.process("ganeti-master"):
                return process
        raise AssertionError("there is no zygote")

    def children_of(self, parent: int) -> list[int]:
        """The processes that a process forked and that live."""
        found = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        return [int(each) for each in found if not is_gone(int(each))]

    def restart_master(self) -> None:
        """Start the master daemon, which answers then."""
        self.cluster.must("ganeti-master")

    def nothing_is_left(self) -> None:
        """No lock is held, and only processes that live have a livelock."""
        until(lambda: len(self.cluster.must("gnt-debug", "locks").splitlines()) == 1, "the locks to be free")
        livelocks = self.node.root / "var/run/ganeti/livelocks"
        until(
            lambda: all(not is_gone(int(path.name.split("_")[1])) for path in livelocks.iterdir()),
            "the livelocks of the dead to go",
        )
        self.assertEqual(json.loads((self.node.root / "var/lib/ganeti/locks.data").read_bytes()), [])

    def test_logs(self) -> None:
        """What was typed is in the commands' log, what the job processes did in the jobs' log, which only root may read."""
        job_id = self.submit("0")
        self.reaches(job_id, "success")
        logs = self.node.root / "var/log/ganeti"
        self.assertIn("INFO run with arguments '--submit 0'", (logs / "commands.log").read_text())
        until(lambda: f"job {job_id} is success" in (logs / "jobs.log").read_text(), "the line of the job's end")
        begin = next(line for line in (logs / "jobs.log").read_text().splitlines() if f"job {job_id} begins" in line)
        self.assertRegex(begin, rf"\[job process \d+\] job {job_id} begins: TEST_DELAY")
        self.assertEqual({(logs / name).stat().st_mode & 0o777 for name in ("commands.log", "jobs.log")}, {0o600})

    def test_master_dies(self) -> None:
        """A job goes on without luxid; the next luxid finds its process again, and can tell it to stop."""
        for number in (signal.SIGKILL, signal.SIGTERM):
            job_id = self.running("2")
            self.end("ganeti-master", number)
            self.restart_master()
            self.assertEqual(self.command("gnt-job", "watch", str(job_id)).returncode, 0)
            self.assertEqual(self.status(job_id), "success")
        self.nothing_is_left()

    def test_job_ends_without_master(self) -> None:
        """A job that needs no locks any more when the master daemon dies comes to its end as soon as there is another."""
        job_id = self.running("0.5")
        self.end("ganeti-master", signal.SIGKILL)
        self.restart_master()
        self.reaches(job_id, "success")
        self.nothing_is_left()

    def test_job_process_dies(self) -> None:
        """A job whose process dies is an error that names the process, and its locks go to the one who waits."""
        job_id = self.running(*LOCKED, "60")
        waiting = self.wants_lock()
        process = self.kill_process_of(job_id)
        self.reaches(job_id, "error")
        self.assertIn(f"process {process} of job {job_id}", str(self.job(job_id)["ops"][0]["result"]))
        self.reaches(waiting, "success")
        self.nothing_is_left()

    def test_job_process_dies_without_master(self) -> None:
        """The same while there is no luxid: the next one finds it out."""
        job_id = self.running(*LOCKED, "60")
        self.end("ganeti-master", signal.SIGKILL)
        self.kill_process_of(job_id)
        self.restart_master()
        self.reaches(job_id, "error")
        self.nothing_is_left()

    def test_zygote_dies(self) -> None:
        """The jobs that run go on; those that come get their processes from the next zygote."""
        job_id = self.running("2")
        os.kill(self.zygote(), signal.SIGKILL)
        later = [self.submit("0") for _ in range(3)]
        for each in (*later, job_id):
            self.reaches(each, "success")
        self.nothing_is_left()

    def test_fork_dies(self) -> None:
        """A process that dies before it could say hello is replaced; the job knows nothing of it."""
        socket = self.node.root / "var/run/ganeti/socket/ganeti-runner"
        away = socket.rename(socket.with_name("away"))  # who comes meanwhile cannot say hello
        job_id = self.submit("0")
        log = self.node.root / "var/log/ganeti/master-daemon.log"
        until(lambda: "before it said hello" in log.read_text(), "the end of a fork")
        away.rename(socket)
        self.reaches(job_id, "success")

    def test_all_die(self) -> None:
        """After everything was killed at once, the jobs that ran are errors, those that waited for a process run."""
        jobs = [self.running(*LOCKED, "60"), self.running("60")]
        waiting = self.wants_lock()
        master = self.cluster.process("ganeti-master")  # first, as it would tell of jobs whose processes die before it
        for process in (master, *set(processes_of(self.cluster.layout.root)) - {master}):
            os.kill(process, signal.SIGKILL)
        until(lambda: not set(processes_of(self.cluster.layout.root)), "the end of all")
        self.cluster.must("ganeti-noded")
        self.restart_master()
        for job_id in jobs:
            self.reaches(job_id, "error")
            self.assertIn(
                f"the process {self.job(job_id)['process_id']} of job", str(self.job(job_id)["ops"][0]["result"])
            )
        self.reaches(waiting, "success")
        self.nothing_is_left()

    def test_parts_die(self) -> None:
        """With luxid and WConfD apart, a job keeps its locks through the death of WConfD and loses them with its own."""
        self.end("ganeti-master", signal.SIGTERM)
        for daemon in ("ganeti-wconfd", "ganeti-luxid"):
            self.cluster.must(daemon)
        job_id = self.running(*LOCKED, "60")
        self.end("ganeti-wconfd", signal.SIGKILL)
        self.cluster.must("ganeti-wconfd")
        waiting = self.wants_lock()
        self.end("ganeti-luxid", signal.SIGKILL)
        self.assertEqual(self.status(waiting), "waiting")
        self.kill_process_of(job_id)
        self.reaches(waiting, "success")
        self.cluster.must("ganeti-luxid")
        self.reaches(job_id, "error")
        self.nothing_is_left()

    def test_node_daemon_dies(self) -> None:
        """A node without a daemon is one clear line; after its restart the very next call succeeds."""
        argv = ("gnt-debug", "delay", "-n", self.node.name, "0")
        self.assertEqual(self.command(*argv).returncode, 0)
        self.end("ganeti-noded", signal.SIGKILL)
        done = self.command(*argv)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot reach node", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.cluster.must("ganeti-noded")
        self.cluster.must(*argv)

    def test_second_daemon(self) -> None:
        """A daemon that runs already is not started a second time; that is one line and a failure."""
        done = self.command("ganeti-noded", "--foreground")
        self.assertEqual(done.returncode, 1)
        fatal = [line for line in done.stdout.splitlines() if "fatal:" in line]
        self.assertEqual(len(fatal), 1)
        self.assertIn("it is running already", fatal[0])
        self.assertNotIn("Traceback", done.stdout + done.stderr)
