"""What an administrator is told of the queue's directory."""

import errno

from ganeti_tx.queue.files.faults import MAX_FINDINGS, queue_faults
from ganeti_tx.queue.job import Status, encode_job
from ganeti_tx.test.queue.files.test_loading import LoadingCase, job


class FaultTests(LoadingCase):
    """A queue directory with more or less in it."""

    def faults(self) -> str:
        """The findings, a line each."""
        return "\n".join(queue_faults(self.files, self.paths))

    def test_none(self) -> None:
        """A queue that is in use has no faults: neither its own files nor its jobs, archived ones too, are any."""
        self.write("job-20007", encode_job(job(20_007)))
        self.write("archive/1/job-10000", encode_job(job(10_000, Status.SUCCESS)))
        for name in ("lock", "drain"):
            self.write(name, b"")
        self.loaded()
        self.assertEqual(self.faults(), "")

    def test_each(self) -> None:
        """What was set aside is told, and what lies where it does not belong."""
        strange = ["job-abc", "archive/x", "archive/007/job-7", "archive/1/job-7", "archive/1/notes", "archive/5"]
        for name in ("job-4", *strange):
            self.write(name, b"{")
        self.loaded()
        faults = self.faults().splitlines()
        places = [line.split()[0].removeprefix(f"{self.paths.queue_dir}/") for line in faults]
        expected = {"lost+found/job-4", "job-abc", "archive/x", "archive/007", "archive/1/job-7", "archive/1/notes"}
        self.assertEqual(set(places), expected | {"archive/5"})

    def test_many(self) -> None:
        """Of very many only some are named."""
        for number in range(MAX_FINDINGS + 5):
            self.write(f"note-{number}", b"")
        faults = self.faults().splitlines()
        self.assertEqual(len(faults), MAX_FINDINGS + 1)
        self.assertTrue(faults[-1].startswith("and 5 more"))

    def test_unreadable(self) -> None:
        """A directory that cannot be listed is itself a finding."""
        self.files.fault = lambda operation, path: OSError(errno.EIO, "Input/output error")
        self.assertIn("Input/output error", self.faults())
