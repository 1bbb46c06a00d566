"""Jobs that are cancelled, killed and take turns, with real processes."""

import json
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.real.programs import SmallCluster, is_gone, until

LOCKED = ("-n", "node1.dev.example")


class SchedulingTests(SynchronousTestCase):
    """A cluster of one node."""

    def setUp(self) -> None:
        """A new cluster."""
        self.cluster = SmallCluster()
        self.addCleanup(self.cluster.close)
        self.cluster.init()

    def submit(self, *words: str) -> int:
        """The id of a new job of a command."""
        return self.cluster.submit(words[0], words[1], *words[2:])

    def job(self, job_id: int) -> dict[str, Any]:
        """A job's file."""
        path = self.cluster.node.root / f"var/lib/ganeti/queue/job-{job_id}"
        found: dict[str, Any] = json.loads(path.read_bytes())
        return found

    def status(self, job_id: int) -> str:
        """The status of a job's only opcode."""
        return str(self.job(job_id)["ops"][0]["status"])

    def reaches(self, job_id: int, status: str) -> None:
        """Wait until a job has a status."""
        until(lambda: self.status(job_id) == status, f"job {job_id} to be {status}")

    def nobody_holds_anything(self) -> bool:
        """Whether every lock is free."""
        return self.cluster.must("gnt-debug", "locks", "--no-headers", "-o", "name,owner,pending").strip() == ""

    def test_cancel_and_kill(self) -> None:
        """A job that waits for a lock, a running one and one that is killed end as the command says, and free their locks."""
        running = self.submit("gnt-debug", "delay", *LOCKED, "600")
        self.reaches(running, "running")
        waiting = self.submit("gnt-node", "add-tags", "node1.dev.example", "tag")
        self.reaches(waiting, "waiting")
        self.assertEqual(self.cluster.must("gnt-job", "cancel", str(waiting)), f"Job {waiting} canceled\n")
        self.assertEqual(self.status(waiting), "canceled")
        self.cluster.must("gnt-job", "cancel", str(running))
        self.reaches(running, "canceled")
        until(self.nobody_holds_anything, "the locks to be free")

        killed = self.submit("gnt-debug", "delay", *LOCKED, "600")
        self.reaches(killed, "running")
        process = self.job(killed)["process_id"]
        said = self.cluster.must("gnt-job", "cancel", "--kill", "--yes-do-it", str(killed))
        self.assertEqual((said, self.status(killed)), (f"Job {killed} was killed\n", "canceled"))
        self.assertTrue(is_gone(process))
        self.assertTrue(self.nobody_holds_anything())
        late = self.cluster.programs.run(self.cluster.node, "gnt-job", "cancel", str(killed))
        self.assertEqual(
            (late.returncode, late.stdout), (1, f"Job {killed} is finished (canceled), it cannot be canceled\n")
        )

    def test_tries_raise_the_priority(self) -> None:
        """A job that cannot have its locks tries again, more urgent each time, and gets them in the end."""
        holder = self.submit("gnt-debug", "delay", *LOCKED, "5")
        self.reaches(holder, "running")
        waiting = self.submit("gnt-node", "add-tags", "node1.dev.example", "tag")
        until(lambda: self.job(waiting)["ops"][0]["priority"] <= -1, "a try to fail")
        self.reaches(waiting, "success")
        self.assertEqual(self.status(holder), "success")
