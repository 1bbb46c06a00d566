"""Exports and imports in a cluster of real processes, by real scripts of an operating system."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from unittest import SkipTest

from ganeti_tx.test.real.test_devcluster import DevclusterCase

MIB = 1 << 20
OS = "dumper"
FILES = {
    "ganeti_api_version": "20\n",
    "parameters.list": "word which nobody may see\nslow seconds that an export takes\n",
    "create": "#!/bin/sh\n",
    "verify": "#!/bin/sh\n",
    "rename": '#!/bin/sh\necho "$OLD_INSTANCE_NAME"\n',
    "export": "#!/bin/bash\necho the word is $OSP_WORD >&2\nstat -c %s $EXPORT_DEVICE >&$EXP_SIZE_FD\n"
    "sleep ${OSP_SLOW:-0}\nexec dd if=$EXPORT_DEVICE bs=1M\n",
    "import": "#!/bin/bash\necho the word is $OSP_WORD\nexec dd of=$IMPORT_DEVICE bs=1M conv=notrunc\n",
}
NEW = "--no-name-check --no-ip-check --no-nics --ignore-ipolicy --os-parameters-private=word=hush"
ADD = f"gnt-instance add -t file --disk 0:size=24M --disk 1:size=4M -o {OS} {NEW}"
IMPORT = "gnt-backup import --no-name-check --no-ip-check --ignore-ipolicy"
#: Seconds within which a script runs, or does not any more.
SOON = 60.0


class BackupTests(DevclusterCase):
    """One instance with two disks of random bytes on the second node."""

    def setUp(self) -> None:
        super().setUp()
        for node in self.cluster.layout.nodes:
            directory = node.root / "srv/ganeti/os" / OS
            directory.mkdir(parents=True, exist_ok=True)
            for name, text in FILES.items():
                (directory / name).write_text(text)
                (directory / name).chmod(0o755)
        self.first, self.second = (node.name for node in self.cluster.layout.nodes[:2])
        self.cluster.ok(f"{ADD} --no-start -n {self.second} backed1")
        self.addCleanup(self.clean)
        self.content = [os.urandom(size * MIB) for size in (24, 4)]
        for path, data in zip(self.disks("backed1"), self.content, strict=True):
            path.write_bytes(data)

    def clean(self) -> None:
        """Nothing is left for other tests."""
        for name in self.cluster.ok("gnt-instance list --no-headers -o name").split():
            self.cluster.ok(f"gnt-instance remove -f --shutdown-timeout 5 {name}")
        self.cluster.ok("gnt-backup remove backed1")

    def disks(self, name: str) -> list[Path]:
        """The files of an instance's disks, in their order."""
        told = self.cluster.ok(f"gnt-instance activate-disks {name}").splitlines()
        self.cluster.ok(f"gnt-instance deactivate-disks {name}")
        return [Path(line.split(":", 2)[2]) for line in told]

    def found(self, pattern: str) -> list[Path]:
        """On all nodes."""
        return [path for node in self.cluster.layout.nodes for path in node.root.glob(pattern)]

    def test_round_trip(self) -> None:
        """What is imported is what was exported, packed on its way or not; nothing else is left, and nobody sees secrets."""
        ok = self.cluster.ok
        for tool, target in (("none", self.first), ("gzip", self.second)):
            ok(f"gnt-backup export --transport-compression={tool} -n {target} backed1")
            [export] = self.found("var/lib/ganeti/export/*")
            self.assertEqual(export.stat().st_mode & 0o777, 0o700)
            self.assertEqual({path.stat().st_mode & 0o777 for path in export.iterdir()}, {0o600})
            told = ok(f"{IMPORT} --compress={tool} -n {self.first} --src-dir=backed1 backed2")
            self.assertIn("Running rename script for backed2", told)
            after = [path.read_bytes() for path in self.disks("backed2")]
            self.assertEqual([a == b for a, b in zip(after, self.content, strict=True)], [True, True])
            ok("gnt-instance remove -f backed2")
        self.assertEqual(self.found("var/run/ganeti/import-export/*"), [])
        logs = self.found("var/log/ganeti/os/*port-dumper-backed*")
        self.assertGreaterEqual(len(logs), 8)
        for log in logs:
            self.assertIn("the word is ****", log.read_text())
        for path in self.found("var/log/ganeti/**/*"):
            self.assertTrue(path.is_dir() or b"hush" not in path.read_bytes(), path)
        self.assertNotIn("ERROR", ok("gnt-cluster verify"))

    def test_image(self) -> None:
        """A disk that is an image is exported while its instance runs, imported as another one, and converted, to and fro."""
        if shutil.which("qemu-io") is None:
            raise SkipTest("qemu-io is not here; apt install qemu-utils")
        ok, disk = self.cluster.ok, "--disk 0:size=24M,format=qcow2"
        ok(f"gnt-instance add -t file {disk} -o {OS} {NEW} --no-start -n {self.second} imaged1")
        self.addCleanup(ok, "gnt-backup remove imaged1")
        [path] = self.disks("imaged1")
        subprocess.run(
            ["qemu-io", "-f", "qcow2", "-c", "write -P 0x41 1M 2M", str(path)], check=True, capture_output=True
        )
        content = bytes(MIB) + b"A" * 2 * MIB + bytes(21 * MIB)
        ok("gnt-instance startup imaged1")
        self.assertIn("Creating a snapshot of disk/0", ok(f"gnt-backup export --noshutdown -n {self.first} imaged1"))
        [dump] = [each for each in self.found("var/lib/ganeti/export/imaged1/*") if each.name != "config.ini"]
        self.assertTrue(dump.read_bytes() == content)
        ok(f"{IMPORT} -n {self.first} --src-dir=imaged1 imaged2")
        self.assertEqual(self.disks("imaged2")[0].read_bytes()[:4], b"QFI\xfb")
        ok("gnt-instance modify -t file -e format=raw --ignore-ipolicy imaged2")
        self.assertTrue(self.disks("imaged2")[0].read_bytes() == content)
        ok("gnt-instance modify -t file -e format=qcow2 --ignore-ipolicy imaged2")
        compared = ["qemu-img", "compare", "-f", "raw", "-F", "qcow2", str(dump), str(self.disks("imaged2")[0])]
        subprocess.run(compared, check=True, capture_output=True)
        self.assertEqual(self.found("var/run/ganeti/raw-views/*"), [])

    def test_damaged(self) -> None:
        """What was changed since is not imported."""
        self.cluster.ok(f"gnt-backup export -n {self.first} backed1")
        [export] = self.found("var/lib/ganeti/export/*")
        dump = next(path for path in export.iterdir() if path.stat().st_size == 4 * MIB)
        dump.write_bytes(b"x" + dump.read_bytes()[1:])
        status, _, err = self.cluster.run(f"{IMPORT} -n {self.first} --src-dir=backed1 backed2".split())
        self.assertEqual(status, 1)
        self.assertIn("what was read is damaged: its SHA-256 is", err)
        self.assertEqual(self.cluster.ok("gnt-instance list --no-headers -o name"), "backed1\n")

    def test_canceled(self) -> None:
        """The script is ended, and what had come is gone."""
        self.cluster.ok("gnt-instance modify -O slow=600 backed1")
        _, _, told = self.cluster.run(f"gnt-backup export --submit -n {self.first} backed1".split())
        job = told.split()[-1]
        self.addCleanup(self.cluster.run, f"gnt-job cancel --kill --yes-do-it {job}".split())
        self.until(lambda: len(self.scripts()) == 2)
        self.cluster.ok(f"gnt-job cancel --kill --yes-do-it {job}")
        self.until(lambda: not self.scripts())
        self.until(lambda: "canceled" in self.cluster.ok(f"gnt-job list --no-headers -o status {job}"))
        self.assertEqual(self.found("var/lib/ganeti/export/*"), [])
        self.assertEqual(self.found("var/run/ganeti/import-export/*"), [])

    def scripts(self) -> list[str]:
        """The processes that sleep for a script of ours."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                environment, command = (path / "environ").read_bytes(), (path / "cmdline").read_bytes()
            except OSError:
                continue
            if command.startswith(b"sleep\0") and b"INSTANCE_NAME=backed1\0" in environment:
                found.append(path.name)
        return found

    def until(self, done: Callable[[], object]) -> None:
        """Wait for something."""
        end = time.monotonic() + SOON
        while not done():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.2)
