"""The queue as its administrator keeps it: lists, archive, drain flag, damaged files; by the commands."""

from pathlib import Path

from ganeti_tx.errors import JobQueueError
from ganeti_tx.test.inprocess.case import ClusterCase, delay
from ganeti_tx.test.inprocess.disk import put


class UpkeepTests(ClusterCase):
    """A cluster in which some jobs have ended."""

    def setUp(self) -> None:
        """Two jobs have ended, one runs; it ends before the test does."""
        super().setUp()
        self.addCleanup(self.cluster.pass_time, 600)
        client = self.luxi()
        self.ended = [client.submit_job([delay(0.0)]), client.submit_job([delay(0.0)])]
        self.cluster.pass_time(5)
        self.running = client.submit_job([delay(500.0)])
        self.cluster.pass_time(5)

    def rows(self, line: str) -> list[list[str]]:
        """The words of a listing, line by line."""
        asked = line.replace("gnt-job list", "gnt-job list --no-headers --separator=|")
        return [each.split("|") for each in self.ok(asked).splitlines()]

    def queue_file(self, name: str) -> Path:
        """A file in the queue's directory."""
        return self.cluster.paths.queue_dir / name

    def restart(self) -> None:
        """A new luxid over the same files."""
        self.cluster.kill_luxid()
        self.cluster.start_luxid()
        self.cluster.pass_time(5)

    def test_list(self) -> None:
        """Lists by default, by id, by status and by filter; an unknown job is told of."""
        one, two = map(str, self.ended)
        running = [str(self.running), "running", "TEST_DELAY(500.0)"]
        ended = [[number, "success", "TEST_DELAY(0.0)"] for number in (one, two)]
        self.assertEqual(self.rows("gnt-job list"), [*ended, running])
        self.assertEqual(self.rows(f"gnt-job list {two}"), ended[1:])
        self.assertEqual(self.rows("gnt-job list --finished"), ended)
        self.assertEqual(self.rows("gnt-job list --running"), [running])
        self.assertEqual(self.rows("gnt-job list --error"), [])
        self.assertEqual(self.rows("gnt-job list 77"), [["77", "-", "-"]])
        self.assertIn("Job ID 77 not found", self.ok("gnt-job info 77"))

    def test_archive(self) -> None:
        """Ended jobs can be archived, a running one not; archived ones are listed when that is asked for, and shown by id."""
        one, two = self.ended
        self.ok(f"gnt-job archive {one}")
        self.fails(f"gnt-job archive {self.running}", f"Failed to archive job with ID {self.running}")
        self.fails(f"gnt-job archive {one}", f"Failed to archive job with ID {one}")
        self.assertEqual([row[0] for row in self.rows("gnt-job list")], [str(two), str(self.running)])
        archived = [[row[0], row[3]] for row in self.rows("gnt-job list --archived")]
        self.assertEqual(archived, [[str(one), "Y"], [str(two), "N"], [str(self.running), "N"]])
        self.assertIn(f"Job ID: {one}", self.ok(f"gnt-job info {one}"))
        self.fails(f"gnt-job watch {one}", "archived")

    def test_auto_archive(self) -> None:
        """By age, or all that have ended."""
        self.assertEqual(self.ok("gnt-job autoarchive 1h"), "Archived 0 jobs, 0 unchecked left\n")
        self.assertEqual(self.ok("gnt-job autoarchive all"), "Archived 2 jobs, 0 unchecked left\n")
        self.assertEqual([row[0] for row in self.rows("gnt-job list")], [str(self.running)])

    def test_drained(self) -> None:
        """A drained queue takes no jobs and says how to change that, also after a restart; what is in it goes on."""
        self.assertEqual(self.ok("gnt-cluster queue info"), "The drain flag is unset\n")
        self.ok("gnt-cluster queue drain")
        self.restart()
        self.assertEqual(self.ok("gnt-cluster queue info"), "The drain flag is set\n")
        self.fails("gnt-cluster add-tags one", "gnt-cluster queue undrain")
        self.assertEqual(self.statuses(self.running), ["running"])
        self.ok("gnt-cluster queue undrain")
        self.ok("gnt-cluster add-tags one")

    def test_damaged(self) -> None:
        """Damaged files stop nobody; verification tells of them until somebody takes them away."""
        put(self.cluster.master.disk, self.queue_file("job-900"), b'{"id": 900')
        put(self.cluster.master.disk, self.queue_file("job-abc"), b"mine")
        put(self.cluster.master.disk, self.queue_file("serial"), b"")
        self.restart()
        self.assertEqual(len(self.rows("gnt-job list")), 3)
        status, out, _ = self.scene().run(["gnt-cluster", "verify"])
        self.assertEqual(status, 1)
        self.assertIn("lost+found/job-900 was in the job queue", out)
        self.assertIn("job-abc does not belong to the job queue", out)
        newest = max(int(row[0]) for row in self.rows("gnt-job list"))
        self.assertGreater(newest, 900)
        for name in ("lost+found/job-900", "lost+found/serial", "job-abc"):
            self.cluster.master.disk.remove(self.queue_file(name))
        _, out, _ = self.scene().run(["gnt-cluster", "verify"])
        self.assertNotIn(str(self.cluster.paths.queue_dir), out)

    def test_disk_full(self) -> None:
        """While the disk is full a submission is one clear error, and later the next number is a new one."""
        disk, before = self.cluster.master.disk, self.luxi().submit_job([delay(0.0)])
        self.cluster.pass_time(5)
        full = OSError(28, "No space left on device")
        disk.fault = lambda operation, path: (
            full if operation.startswith("write") and path.parent == self.cluster.paths.queue_dir else None
        )
        error = self.assertRaises(JobQueueError, self.luxi().submit_job, [delay(0.0)])
        self.assertIn("No space left on device; no job was submitted", str(error))
        disk.fault = None
        self.assertEqual(len(self.rows("gnt-job list")), 4)
        self.assertGreater(self.luxi().submit_job([delay(0.0)]), before + 1)
