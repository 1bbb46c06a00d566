"""A cluster whose disk really is full, or read-only: a small file system of its own, which is filled, emptied, remounted."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.test.real.programs import SmallCluster, until

FULL, READ_ONLY = "No space left on device", "Read-only file system"
INSTANCE = (
    "-t",
    "diskless",
    "--no-install",
    "-n",
    "node1.dev.example",
    "-o",
    "busybox",
    "--no-name-check",
    "--no-ip-check",
)
MEBIBYTE = 1 << 20


class SmallDisk:
    """An ext4 file system of a few MiB in a file, mounted at a directory."""

    def __init__(self, image: Path, directory: Path, size: int = 6 * MEBIBYTE) -> None:
        if os.geteuid() != 0:
            raise SkipTest("only root mounts file systems")
        for program in ("mkfs.ext4", "mount", "losetup"):
            if shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") is None:
                raise SkipTest(f"{program} is not installed")
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        with image.open("wb") as file:
            file.truncate(size)
        self._do("mkfs.ext4", "-q", "-m", "0", "-E", "lazy_itable_init=0", str(image))
        done = subprocess.run(["mount", "-o", "loop", str(image), str(directory)], capture_output=True, text=True)
        if done.returncode != 0:
            raise SkipTest(f"no loop device can be mounted here: {done.stderr.strip()}")

    def _do(self, *argv: str) -> None:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{argv} ended with {done.returncode}: {done.stderr}")

    def fill(self, room: int = 0) -> None:
        """So many bytes more and not one."""
        with (self.directory / "filler").open("wb", buffering=0) as file:
            for size in (65536, 4096, 1024, 1):
                try:
                    while file.write(bytes(size)):
                        continue
                except OSError:
                    continue
            file.truncate(file.tell() - room)

    def empty(self) -> None:
        """Room again."""
        (self.directory / "filler").unlink()

    def remount(self, how: str) -> None:
        """Make it "ro" or "rw"."""
        self._do("mount", "-o", f"remount,{how}", str(self.directory))

    def unmount(self) -> None:
        """Take it away, whoever still uses it."""
        subprocess.run(["umount", "-l", str(self.directory)], capture_output=True, check=False)


class FullDiskTests(SynchronousTestCase):
    """A cluster of one node; what of it lies on the small disk each test says."""

    def prepare(self, below: str) -> None:
        """A node with one of its directories on a disk of its own."""
        self.cluster = SmallCluster()
        self.addCleanup(self.cluster.close)
        self.disk = SmallDisk(self.cluster.layout.root / "image", self.cluster.node.root / below)
        self.addCleanup(self.disk.unmount)
        self.data = self.cluster.node.root / "var/lib/ganeti"

    def begin(self, below: str) -> None:
        """Make a cluster of it."""
        self.prepare(below)
        self.cluster.init()
        self.cluster.must("gnt-debug", "delay", "0")

    def refused(self, said: str, *argv: str) -> None:
        """A command fails, and says why in words for people."""
        done = self.cluster.programs.run(self.cluster.node, *argv)
        text = done.stdout + done.stderr
        self.assertNotEqual(done.returncode, 0, f"{argv}: {text}")
        self.assertIn(said, text, argv)
        self.assertNotIn("Traceback", text)
        self.assertNotIn("internal error", text)

    def refuse_all(self, said: str) -> None:
        """Whatever would have to be written is refused; what only reads works."""
        self.refused(said, "gnt-debug", "delay", "0")
        self.refused(said, "gnt-cluster", "add-tags", "refused")
        self.refused(said, "gnt-instance", "add", *INSTANCE, "refused.dev.example")
        if said == READ_ONLY:  # an empty file needs no space
            self.refused(said, "gnt-cluster", "queue", "drain")
        self.cluster.must("gnt-job", "list")
        self.cluster.must("gnt-instance", "list")

    def go_on(self) -> None:
        """All goes on; nothing of what was refused is there, neither now nor after a restart."""
        self.cluster.must("gnt-debug", "delay", "0")
        self.cluster.must("gnt-cluster", "add-tags", "taken")
        self.cluster.must("gnt-instance", "add", *INSTANCE, "taken.dev.example")
        for _ in range(2):
            self.assertEqual(self.cluster.must("gnt-cluster", "list-tags").split(), ["taken"])
            names = self.cluster.must("gnt-instance", "list", "--no-headers", "-o", "name").split()
            self.assertEqual(names, ["taken.dev.example"])
            self.assertEqual(set(self.statuses()) - {"success", "error"}, set())
            self.restart()
        self.assertEqual([path.name for path in self.data.rglob(".*.tmp")], [])
        self.cluster.must("gnt-instance", "remove", "-f", "taken.dev.example")

    def restart(self) -> None:
        """End the master daemon and start it."""
        self.cluster.end("ganeti-master", signal.SIGTERM)
        self.cluster.must("ganeti-master")
        until(lambda: self.cluster.programs.run(self.cluster.node, "gnt-job", "list").returncode == 0, "the master")

    def statuses(self) -> list[str]:
        """Of all jobs."""
        return self.cluster.must("gnt-job", "list", "--no-headers", "-o", "status").split()

    def job(self, job_id: int) -> dict[str, Any]:
        """A job's file."""
        found: dict[str, Any] = msgspec.json.decode((self.data / f"queue/job-{job_id}").read_bytes())
        return found

    def running(self, seconds: float) -> int:
        """A job that runs so long."""
        job_id = self.cluster.submit("gnt-debug", "delay", str(seconds))
        until(lambda: self.job(job_id)["ops"][0]["status"] == "running", "the job to run")
        return job_id

    def survives(self, hurt: Callable[[], None], heal: Callable[[], None], said: str) -> None:
        """A job that ends while the disk takes nothing has ended well when it takes something."""
        job_id = self.running(3)
        hurt()
        try:
            self.refuse_all(said)
            time.sleep(2)
            self.assertEqual(self.job(job_id)["ops"][0]["status"], "running")
        finally:
            heal()
        until(lambda: self.job(job_id)["ops"][0]["status"] == "success", "the end of the job to be written")
        self.go_on()

    def test_full(self) -> None:
        """The configuration, the queue and the locks on a disk that is full for a while."""
        self.begin("var/lib/ganeti")
        self.survives(self.disk.fill, self.disk.empty, FULL)

    def test_everything_full(self) -> None:
        """The logs, the livelocks and the pid files with them."""
        self.begin("var")
        self.survives(self.disk.fill, self.disk.empty, FULL)

    def test_read_only(self) -> None:
        """A disk that is read-only for a while."""
        self.begin("var/lib/ganeti")
        self.survives(lambda: self.disk.remount("ro"), lambda: self.disk.remount("rw"), READ_ONLY)

    def test_start_on_a_full_disk(self) -> None:
        """Daemons start on a full disk or say why not in one line; leftovers of the dead are removed."""
        self.begin("var/lib/ganeti")
        left = self.data / ".config.data.1999999-00000000-1.tmp"
        left.write_bytes(b"half")
        self.disk.fill()
        self.restart()
        self.assertFalse(left.exists())
        self.refuse_all(FULL)
        self.disk.empty()
        self.go_on()

    def test_init(self) -> None:
        """A cluster that cannot be written is not made, and can be made on a disk that has room."""
        self.prepare("var/lib/ganeti")
        for room in (0, 8192, 40960):
            self.disk.fill(room)
            error = str(self.assertRaises(AssertionError, self.cluster.init))
            self.assertIn(f"cannot write {self.data}", error)
            self.assertIn(FULL, error)
            left = {path.name for path in self.data.rglob("*") if path.is_file()}
            self.assertEqual(left, {"filler"})
        self.disk.empty()
        self.cluster.init()
        self.cluster.must("gnt-debug", "delay", "0")

    def test_torn_configuration(self) -> None:
        """A damaged config.data is refused with its path; restored, the cluster goes on."""
        self.begin("var/lib/ganeti")
        path = self.data / "config.data"
        whole = path.read_bytes()
        self.cluster.end("ganeti-master", signal.SIGTERM)
        for torn in (b"", whole[: len(whole) // 2]):
            path.write_bytes(torn)
            self.refused(f"{path}: the configuration cannot be read", "ganeti-master")
        path.write_bytes(whole)
        self.cluster.must("ganeti-master")
        self.cluster.must("gnt-debug", "delay", "0")
