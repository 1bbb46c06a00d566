"""A creation whose process is killed while it installs: a fresh process takes it back, and the job says so."""

import json
import os
import signal
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.root_processes import processes_of
from ganeti_tx.test.real.programs import SmallCluster, is_gone, until

#: The installation lasts until the test lets it end; what takes it back waits for it.
CREATE = "#!/bin/sh\n: > {begun}\nfor i in $(seq 600); do [ ! -e {go} ] || exit 0; sleep 0.1; done\n"
NAME = "web1.dev.example"


class InterruptedTests(SynchronousTestCase):
    """A cluster of one node, and an operating system that takes its time."""

    def setUp(self) -> None:
        self.cluster = SmallCluster()
        self.addCleanup(self.cluster.close)
        self.cluster.init()
        self.root = self.cluster.node.root
        self.add_os(self.root / "srv/ganeti/os/slow")

    def add_os(self, directory: Path) -> None:
        """Write the definition."""
        directory.mkdir(parents=True)
        files = {"ganeti_api_version": "20\n", "variants.list": "default\n", "parameters.list": ""}
        scripts = dict.fromkeys(("import", "export", "rename", "verify"), "#!/bin/sh\n")
        scripts["create"] = CREATE.format(begun=self.root / "begun", go=self.root / "go")
        for name, content in {**files, **scripts}.items():
            (directory / name).write_text(content)
            (directory / name).chmod(0o644 if name in files else 0o755)

    def job(self, job_id: int) -> dict[str, Any]:
        """A job's file."""
        found: dict[str, Any] = json.loads((self.root / f"var/lib/ganeti/queue/job-{job_id}").read_bytes())
        return found

    def installing(self) -> int:
        """A job that creates an instance, when its OS is being installed."""
        words = f"-t file --disk 0:size=1G --disk 1:size=1G -o slow+default -n {self.cluster.node.name}"
        checks = "--no-ip-check --no-name-check --no-start"
        job_id = self.cluster.submit("gnt-instance", "add", *words.split(), *checks.split(), NAME)
        until((self.root / "begun").exists, "it to install")
        self.assertEqual(len(self.job(job_id)["ops"][0]["undo"]["steps"]), 5)
        self.assertEqual(len(self.disks()), 2)
        return job_id

    def disks(self) -> list[Path]:
        """The files of disks."""
        return list(self.root.glob(f"srv/ganeti/file-storage/{NAME}/*"))

    def kill(self, job_id: int) -> None:
        """Kill the process of a job."""
        process = int(self.job(job_id)["process_id"])
        os.kill(process, signal.SIGKILL)
        until(lambda: is_gone(process), "its end")

    def kill_all(self) -> bool:
        """Kill what runs, again and again, for some may have just been started; whether nothing runs any more."""
        found = set(processes_of(self.cluster.layout.root))
        for process in found:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        return not found

    def assert_taken_back(self, job_id: int) -> None:
        """The job says what was taken back, and nothing of the instance is there."""
        (self.root / "go").touch()
        until(lambda: self.job(job_id)["ops"][0]["status"] == "error", "the job to end")
        (op,) = self.job(job_id)["ops"]
        self.assertRegex(
            str(op["result"]), rf"the process \d+ of job {job_id} .*; taken back: shut down disk/0 of instance"
        )
        self.assertNotIn("undo", op)
        self.assertEqual(self.disks(), [])
        self.assertEqual(self.cluster.must("gnt-instance", "list", "--no-headers"), "")
        until(lambda: len(self.cluster.must("gnt-debug", "locks").splitlines()) == 1, "the locks to be free")
        self.assertIn("Taken back: remove disk/0 of", self.cluster.must("gnt-job", "info", str(job_id)))

    def test_process_dies(self) -> None:
        """The job's locks stay until all is taken back."""
        job_id = self.installing()
        self.kill(job_id)
        self.assertIn(f"instance/{NAME}", self.cluster.must("gnt-debug", "locks"))
        self.assert_taken_back(job_id)

    def test_master_dies_too(self) -> None:
        """So do they while the master daemon is away."""
        job_id = self.installing()
        self.cluster.end("ganeti-master", signal.SIGKILL)
        self.kill(job_id)
        self.cluster.must("ganeti-master")
        self.assert_taken_back(job_id)

    def test_all_die(self) -> None:
        """After everything was killed, as by a loss of power, the next master takes it back first of all."""
        job_id = self.installing()
        until(self.kill_all, "the end of all")
        (self.root / "var/lib/ganeti/locks.data").unlink()
        self.cluster.must("ganeti-noded")
        self.cluster.must("ganeti-master")
        self.assert_taken_back(job_id)
