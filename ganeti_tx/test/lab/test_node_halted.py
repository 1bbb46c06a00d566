"""Machines that QEMU has stopped after an error of their disks, or of KVM, are told from those that run."""

from ganeti_tx.test.lab import guest
from ganeti_tx.test.lab.cluster import FILE_STORAGE
from ganeti_tx.test.lab.on_node import NodeCase

NAME = "halted.lab.example"
FILL = f"{FILE_STORAGE}/fill"
#: QEMU tells a guest of an error of its disk, unless it is told to stop then.
STOPPED = "-global ide-hd.werror=stop -global ide-hd.rerror=stop"
FAIL = """
device=$(basename $(readlink -f /dev/xenvg/*.disk0)) && name=$(cat /sys/block/$device/dm/name) &&
size=$(blockdev --getsz /dev/$device) &&
dmsetup suspend --nolockfs --noflush $name && echo "0 $size error" | dmsetup reload $name && dmsetup resume $name
"""


class HaltedTests(NodeCase):
    """One machine."""

    def test_full(self) -> None:
        """Its file cannot grow, as the file system is full; it goes on where it was when there is room."""
        self.machine.run(f"mount -t tmpfs -o size=16M tmpfs {FILE_STORAGE}")
        self.addCleanup(self.machine.run, f"umount {FILE_STORAGE}")
        self.add(NAME, "-t", "file", "--disk", "0:size=8M")
        guest.counted(self.machine, NAME, 3)
        self.machine.ended(f"dd if=/dev/zero of={FILL} bs=4k")
        self.halted("io-error")
        last = guest.ticks(self.machine, NAME)[-1]
        self.machine.run(f"rm {FILL}")
        self.monitor(NAME, "cont")
        self.assertIn(last + 1, guest.counted(self.machine, NAME, last))
        self.assertEqual(self.status(NAME), "running")

    def test_broken_disk(self) -> None:
        """Its volume answers with errors; started again upon a whole one it runs."""
        self.add(NAME, "-t", "plain", "--disk", "0:size=8M")
        self.ok("gnt-instance", "modify", "-H", f"kvm_extra={STOPPED} -debugcon file:{guest.said_file(NAME)}", NAME)
        self.ok("gnt-instance", "reboot", "-t", "full", "--shutdown-timeout", "0", NAME)
        guest.counted(self.machine, NAME, 3)
        self.machine.run(FAIL)
        self.halted("io-error")
        self.ok("gnt-instance", "shutdown", "--timeout", "100000", NAME)  # nobody waits for such a guest
        self.machine.run("vgchange -q -an xenvg && vgchange -q -ay xenvg")
        self.ok("gnt-instance", "startup", NAME)
        guest.counted(self.machine, NAME, 3)
        self.assertEqual(self.status(NAME), "running")

    def test_kvm_failed(self) -> None:
        """It did what KVM cannot emulate; a start cuts it off."""
        self.add(NAME, kernel_args="fault")
        self.halted("internal-error")
        self.assertEqual(guest.ticks(self.machine, NAME)[-1], 5)
        self.ok("gnt-instance", "startup", "-H", "kernel_args=", NAME)
        guest.counted(self.machine, NAME, 6)
        self.assertEqual(self.status(NAME), "running")

    def halted(self, why: str) -> None:
        """Lists, verify and info say so, with QEMU's word for it."""
        self.until(lambda: self.status(NAME) == "ERROR_halted", f"{NAME} is halted")
        verified = self.cluster.run("gnt-cluster", "verify")
        self.assertEqual(verified.returncode, 1)
        self.assertIn(f"halted by its hypervisor on node node1.lab.example: {why}", verified.stdout)
        self.assertIn(why, self.ok("gnt-instance", "info", NAME))
