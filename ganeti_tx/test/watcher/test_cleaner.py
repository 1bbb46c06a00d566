"""ganeti-cleaner."""

import io
import os
from contextlib import redirect_stderr
from datetime import UTC, datetime

from ganeti_tx.runtime.certificates import create_authority, issue_client
from ganeti_tx.test.watcher.watched import WatchedCase
from ganeti_tx.watcher.cleaner import AGE, LOGS_KEPT, MERGE_AGE, Cleaning, forget_logs, parser

#: Long after 1970, and long before what a certificate made now expires at.
LATER = 4102444800.0


class CleanerTests(WatchedCase):
    """What is removed, and what stays."""

    def cleaning(self, now: float) -> Cleaning:
        """A run at a time."""
        return Cleaning(self.watched.paths, self.watched.node.log, now)

    def test_certificates(self) -> None:
        """One that has expired goes with its key; one that holds stays, as does what cannot be read."""
        authority = create_authority("cluster.example.com", datetime(2020, 1, 1, tzinfo=UTC))
        certificate = issue_client(authority, "node1.example.com", datetime(2020, 1, 1, tzinfo=UTC)).certificate
        directory = self.watched.paths.crypto_keys_dir
        for name, text in (("x509-1", certificate.decode()), ("x509-2", "junk")):
            self.watched.put(directory / name / "cert", text)
            self.watched.put(directory / name / "key", "secret")
        self.cleaning(datetime(2020, 1, 2, tzinfo=UTC).timestamp()).clean_node()
        self.assertTrue((directory / "x509-1" / "key").exists())
        self.cleaning(LATER).clean_node()
        self.assertEqual([path.name for path in directory.iterdir()], ["x509-2"])
        self.assertIn("left", self.watched.lines[-1])

    def test_wrong_words(self) -> None:
        """They end it as they end Ganeti's, with the usage."""
        for words in ([], ["nod"], ["node", "master"], ["--bogus"]):
            err = io.StringIO()
            with redirect_stderr(err):
                end = self.assertRaises(SystemExit, parser().parse_args, words)
            self.assertEqual((end.code, err.getvalue().startswith("usage: ganeti-cleaner ")), (1, True), words)

    def test_age(self) -> None:
        """Archived jobs and what the watcher kept go when they are old; jobs in the queue stay however old they are."""
        paths = self.watched.paths
        state, status = paths.watcher_state_file("a"), paths.watcher_instance_status_file("a")
        archived, queued = paths.archived_job_file(10001), paths.job_file(3)
        for path in (state, status, archived, queued, paths.watcher_pause_file):
            self.watched.put(path, "")
            os.utime(path, (LATER, LATER))
        for now, left in ((LATER + AGE, (True, True, True)), (LATER + AGE + 1, (False, False, False))):
            self.cleaning(now).clean_node()
            self.cleaning(now).clean_master()
            self.assertEqual((state.exists(), status.exists(), archived.exists()), left)
        self.assertTrue(queued.exists() and paths.watcher_pause_file.exists())

    def test_merge(self) -> None:
        """The key of a merge goes when no merge is that old."""
        directory = self.watched.paths.merge_dir
        self.watched.put(directory / "id_ed25519", "secret")
        os.utime(directory, (LATER, LATER))
        self.cleaning(LATER + MERGE_AGE).clean_node()
        self.assertTrue((directory / "id_ed25519").exists())
        self.cleaning(LATER + MERGE_AGE + 1).clean_node()
        self.assertEqual(list(directory.iterdir()), [])

    def test_link(self) -> None:
        """A link in the archive, which is not root's, leads nowhere else."""
        outside = self.watched.put(self.watched.root / "outside" / "job-1", "")
        os.utime(outside, (0, 0))
        self.watched.paths.queue_archive_dir.mkdir(parents=True)
        (self.watched.paths.queue_archive_dir / "0").symlink_to(outside.parent)
        self.cleaning(LATER).clean_master()
        self.assertTrue(outside.exists())

    def test_logs(self) -> None:
        """The newest logs are kept."""
        for number in range(LOGS_KEPT + 2):
            self.watched.put(self.watched.root / f"ganeti-cleaner-{number:03d}.log", "")
        forget_logs(self.watched.root)
        names = sorted(path.name for path in self.watched.root.glob("*.log"))
        self.assertEqual((len(names), names[0]), (LOGS_KEPT, "ganeti-cleaner-002.log"))
