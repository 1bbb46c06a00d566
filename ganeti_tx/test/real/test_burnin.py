"""`burnin` with QEMU, whose guests are as small as can be: they wait for the power button, and switch themselves off."""

import atexit
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.devcluster import quickstart
from ganeti_tx.devcluster.layout import DevNode
from ganeti_tx.runtime.root_processes import processes_of
from ganeti_tx.test.real.command_line import command_line
from ganeti_tx.test.real.devcluster import COMMAND_LIMIT, DevClusterUnderTest, commands_are_installed
from ganeti_tx.test.real.own_file_storage import file_storage, have_own_file_storage
from ganeti_tx.test.real.test_kvm_migration import free_port

OS = "button"
#: The first sector of a disk. It has the chipset report the button (bit 8 of port 0x602), and looks at port 0x600 at each
#: tick of the clock; once it is pressed, it writes to port 0x604 what switches the machine off.
BOOT = bytes.fromhex("fb ba0206 b80001 ef f4 ba0006 ed f6c401 74f6 ba0406 b80020 ef ebfe")
SECTOR = BOOT.ljust(510, b"\0") + b"\x55\xaa"
SCRIPTS = {
    "create": 'exec dd if="$(dirname "$0")/sector" of="$DISK_0_PATH" conv=notrunc status=none',
    "verify": "",
    "rename": "",
    "export": "exec dd if=$EXPORT_DEVICE bs=1M status=none",
    "import": "exec dd of=$IMPORT_DEVICE bs=1M conv=notrunc status=none",
}
HYPERVISOR = (
    "kvm:kernel_path=,root_path=,vnc_bind_address=,serial_console=false,kvm_flag=disabled,migration_bandwidth=500"
)
BURNIN = f"burnin -o {OS} --disk-size 128m --disk-growth 16m --mem-size 64m --vcpu-count 1 --no-name-check"
#: What is left out besides where only the way to another node matters.
ONLY_ELSEWHERE = "--no-importexport --no-reinstall --no-reboot --no-add-disks --no-add-nics --no-activate-disks"
ONLY_ELSEWHERE += " --no-renamesame --no-startstop --no-confd"


class KvmBurninTests(SynchronousTestCase):
    """Two nodes, each with a directory of files of its own, and one that both have."""

    timeout = 600
    cluster: ClassVar[DevClusterUnderTest | None] = None

    def setUp(self) -> None:
        if not commands_are_installed():
            raise SkipTest("the commands are not installed beside this Python (pip install -e .)")
        if not quickstart.have_qemu():
            raise SkipTest("there is no QEMU")
        if KvmBurninTests.cluster is None:
            options = (f"{HYPERVISOR},migration_port={free_port()}",)
            templates = "--enabled-disk-templates=file,sharedfile"
            KvmBurninTests.cluster = DevClusterUnderTest(
                ("--enabled-hypervisors=kvm", templates, "-H", *options), nodes=2
            )
            atexit.register(KvmBurninTests.cluster.close)  # trial runs no tearDownClass
            have_own_file_storage(KvmBurninTests.cluster.layout)
            for node in KvmBurninTests.cluster.layout.nodes:
                define_os(node)
        self.here = KvmBurninTests.cluster

    def burn(self, words: Sequence[str]) -> str:
        """It passes; what it told."""
        status, out, err = self.here.run([*BURNIN.split(), *words])
        self.assertEqual((status, err), (0, ""), out)
        return out

    def assert_nothing_left(self) -> None:
        """No instance, no export, no file of a disk, no QEMU."""
        self.assertEqual(self.here.ok("gnt-instance list --no-headers"), "")
        layout = self.here.layout
        exports = [path for node in layout.nodes for path in (node.root / "var/lib/ganeti/export").glob("*")]
        files = [
            path
            for directory in (*map(file_storage, layout.nodes), layout.root / "shared")
            for path in directory.rglob("burn*")
        ]
        lines = [command_line(process) for process in processes_of(layout.root)]
        self.assertEqual((exports, files, [line for line in lines if b"-pidfile" in line]), ([], [], []))

    def test_file(self) -> None:
        """All that can be done with a disk in a file."""
        told = self.burn(["-t", "file", "--rename", "burn2", "burn1"])
        titles = [line.split(":")[0] for line in told.splitlines() if "left out" in line]
        self.assertEqual(
            titles,
            [
                "- Replacing disks on the same nodes",
                "- Replacing the secondary node",
                "- Failing over",
                "- Migrating",
            ],
        )
        self.assertIn("- Asking the configuration daemons\n    2 nodes and 1 instances are as they should be\n", told)
        self.assertIn("    nothing of this burnin is left\nBurnin passed after ", told)
        self.assert_nothing_left()

    def test_shared(self) -> None:
        """Running guests go to the other node and back."""
        told = self.burn(["-t", "sharedfile", *ONLY_ELSEWHERE.split(), "burn1"])
        self.assertIn("migrate from node2.dev.example; clean up the migration\n", told)
        self.assert_nothing_left()

    def test_ended(self) -> None:
        """Asked to end in the midst of it, it removes what it has made before it does."""
        words = [str(Path(sys.executable).parent / "burnin"), *BURNIN.split()[1:], "-t", "file", "-p", "burn1", "burn2"]
        with subprocess.Popen(
            words,
            env=self.here.layout.master.environment({}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            said = next(line for line in process.stdout if line.startswith("  * burn2: move"))
            process.send_signal(signal.SIGTERM)
            rest = process.communicate(timeout=COMMAND_LIMIT)[0]
        self.assertEqual(process.returncode, 1, said + rest)
        self.assertIn("Interrupted\n", rest)
        self.assertIn("    nothing of this burnin is left\nBurnin FAILED after ", rest)
        self.assert_nothing_left()


def define_os(node: DevNode) -> None:
    """One whose instances boot into that sector."""
    directory = node.root / "srv/ganeti/os" / OS
    directory.mkdir(parents=True)
    (directory / "sector").write_bytes(SECTOR)
    (directory / "ganeti_api_version").write_text("20\n")
    (directory / "parameters.list").write_text("")
    for name, line in SCRIPTS.items():
        (directory / name).write_text(f"#!/bin/sh\n{line}\n")
        (directory / name).chmod(0o755)
