"""Disks that are converted in a cluster of real processes; its nodes have one file system, so none can be moved."""

import os
from pathlib import Path

from ganeti_tx.test.real.test_devcluster import DevclusterCase

MIB = 1 << 20
ADD = (
    "gnt-instance add -t file --disk 0:size=24M --disk 1:size=4M --no-install --no-name-check --no-ip-check"
    " --ignore-ipolicy"
)


class CarryingTests(DevclusterCase):
    """One instance with two disks of random bytes on the second node."""

    def setUp(self) -> None:
        super().setUp()
        self.cluster.ok(f"{ADD} --no-start -n {self.cluster.layout.nodes[1].name} carried1")
        self.addCleanup(self.cluster.ok, "gnt-instance remove -f --shutdown-timeout 5 carried1")
        self.content = [os.urandom(size * MIB) for size in (24, 4)]
        for path, data in zip(self.files(), self.content, strict=True):
            path.write_bytes(data)

    def files(self) -> list[Path]:
        """Of its disks, in their order."""
        told = self.cluster.ok("gnt-instance activate-disks carried1").splitlines()
        self.cluster.ok("gnt-instance deactivate-disks carried1")
        return [Path(line.split(":", 2)[2]) for line in told]

    def assert_carried(self, before: list[Path]) -> None:
        """All is elsewhere, and nothing is left where it was."""
        after = self.files()
        self.assertEqual(
            [path.read_bytes() == data for path, data in zip(after, self.content, strict=True)], [True] * 2
        )
        self.assertEqual([path.exists() for path in before], [False, False])
        roots = [node.root for node in self.cluster.layout.nodes]
        self.assertEqual([found for root in roots for found in root.glob("var/run/ganeti/import-export/*")], [])

    def test_conversion(self) -> None:
        """To shared files and back."""
        for word in ("sharedfile", "file"):
            before = self.files()
            told = self.cluster.ok(f"gnt-instance modify --ignore-ipolicy -t {word} carried1")
            self.assertIn(f" - disk_template -> {word}", told)
            self.assert_carried(before)
        self.assertNotIn("ERROR", self.cluster.ok("gnt-cluster verify"))
