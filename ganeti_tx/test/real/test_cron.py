"""The lines that are installed for cron, run as cron runs them."""

import os
import subprocess
import sys
import time
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.installation.contents import CRON, contents
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.real.devcluster import DevClusterUnderTest, commands_are_installed

#: Where lines for cron leave the work to timers.
SYSTEMD = Path("/run/systemd/system")
#: Minute, hour, day, month, weekday and user stand before the command.
WHEN_AND_WHO = 6
NAME = "web1.dev.example"
LONG_AGO = 22 * 86400


class CronTests(SynchronousTestCase):
    """One node with an instance that died, and with files that nobody needs any more."""

    skip = (
        "timers of systemd do this here"
        if SYSTEMD.exists()
        else None
        if commands_are_installed()
        else "the commands are not installed beside this Python"
    )

    def setUp(self) -> None:
        options = ["--enabled-hypervisors=fake", "--enabled-disk-templates=diskless,file"]
        self.cluster = DevClusterUnderTest(options, nodes=1)
        self.addCleanup(self.cluster.close)
        self.paths = Paths(self.cluster.layout.master.root)
        words = "-t diskless --no-install -o busybox+default --no-name-check --no-ip-check"
        self.cluster.ok(f"gnt-instance add {words} -n node1.dev.example {NAME}")
        self.cluster.ok(f"gnt-instance startup {NAME}")

    def old(self, path: Path) -> Path:
        """A file that has not been touched for a long time."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
        os.utime(path, (time.time() - LONG_AGO,) * 2)
        return path

    def run_lines(self) -> int:
        """Run every line once, with the search path that stands above them; how many there are."""
        lines = contents(Path(sys.executable).parent, {}).files[CRON].splitlines()
        search_path = next(line.removeprefix("PATH=") for line in lines if line.startswith("PATH="))
        commands = [line.split(maxsplit=WHEN_AND_WHO)[WHEN_AND_WHO] for line in lines if line[:1] in set("*0123456789")]
        environment = {**self.cluster.layout.master.environment({}), "PATH": search_path}
        for command in commands:
            done = subprocess.run(
                ["/bin/sh", "-c", command], env=environment, capture_output=True, text=True, timeout=120, check=False
            )
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), command)
        return len(commands)

    def test_lines(self) -> None:
        """What died is started, what is old goes, and nobody gets mail."""
        (self.paths.run_dir / "fake-hypervisor" / NAME).unlink()
        gone = [
            self.old(self.paths.queue_archive_dir / "0" / "job-99999"),
            self.old(self.paths.data_dir / "watcher.former-group.data"),
        ]
        self.assertEqual(self.cluster.ok("gnt-instance list --no-headers -o status"), "ERROR_down\n")
        self.assertEqual(self.run_lines(), 3)
        self.assertEqual(self.cluster.ok("gnt-instance list --no-headers -o status"), "running\n")
        self.assertEqual([path for path in gone if path.exists()], [])
