"""Operations on disks in a cluster of real processes, with real files."""

from pathlib import Path

from ganeti_tx.test.real.test_devcluster import DevclusterCase

MIB = 1 << 20
ADD = (
    "gnt-instance add -t file --disk 0:size=16M --disk 1:size=32M --no-install --no-start --no-name-check --no-ip-check"
)


class DiskTests(DevclusterCase):
    """One instance with two disks on the second node."""

    def setUp(self) -> None:
        super().setUp()
        node = self.cluster.layout.nodes[1].name
        self.cluster.ok(f"{ADD} --ignore-ipolicy -n {node} disks1")
        self.addCleanup(self.cluster.ok, "gnt-instance remove -f disks1")

    def files(self) -> list[Path]:
        """Of its disks, in their order, as they are told when they are made ready."""
        told = self.cluster.ok("gnt-instance activate-disks disks1").splitlines()
        self.cluster.ok("gnt-instance deactivate-disks disks1")
        return [Path(line.split(":", 2)[2]) for line in told]

    def test_walk(self) -> None:
        """Grown and wiped, lost and made anew, and its size recorded as it is."""
        first, second = self.files()
        first.write_bytes(b"x" * 16 * MIB)
        self.cluster.ok("gnt-cluster modify --prealloc-wipe-disks=yes")
        self.addCleanup(self.cluster.ok, "gnt-cluster modify --prealloc-wipe-disks=no")
        self.cluster.ok("gnt-instance grow-disk --ignore-ipolicy disks1 0 4M")
        self.assertEqual(first.read_bytes(), b"x" * 16 * MIB + bytes(4 * MIB))
        second.unlink()
        status, out, err = self.cluster.run(["gnt-instance", "activate-disks", "disks1"])
        self.assertEqual(status, 1)
        self.assertIn("Could not prepare block device disk/1", out)
        self.assertIn("Cannot activate block devices", err)
        self.cluster.ok("gnt-instance recreate-disks --disk 1:size=8M disks1")
        self.assertEqual([path.stat().st_size // MIB for path in self.files()], [20, 8])
        with first.open("ab") as file:
            file.truncate(24 * MIB)
        self.assertIn("recorded 20, actual 24", self.cluster.ok("gnt-cluster repair-disk-sizes disks1"))
        self.assertEqual(self.cluster.ok("gnt-instance list --no-headers -o disk.sizes disks1").strip(), "24,8")
        self.assertIn("No disks need to be activated.", self.cluster.ok("gnt-cluster verify-disks"))
