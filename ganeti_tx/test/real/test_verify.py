"""Verification of a real cluster: faults on real disks and in real processes are found, and gone when they are mended."""

import re
import shutil
from pathlib import Path

from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.real.test_devcluster import OS, DevclusterCase

NAME = "verified.example.com"


class RealVerifyTests(DevclusterCase):
    """An instance with a disk in a file on the second node, and what befalls it."""

    def setUp(self) -> None:
        super().setUp()
        self.node = self.cluster.layout.nodes[1]
        self.paths = Paths(Path(self.node.root))
        words = f"-t file -s 1G -o {OS} --no-install --no-name-check --no-ip-check -n {self.node.name} {NAME}"
        self.cluster.ok(f"gnt-instance add {words}")
        self.cluster.ok(f"gnt-instance startup {NAME}")
        self.addCleanup(self.cluster.run, ["gnt-instance", "remove", "-f", NAME])

    def found(self) -> set[str]:
        """The findings but those about sizes."""
        status, out, err = self.cluster.run(["gnt-cluster", "verify", "--error-codes"])
        self.assertNotIn("Traceback", out + err)
        self.assertEqual(status, 1 if "- ERROR:" in out else 0, out + err)
        lines = re.findall(r"- (?:ERROR|WARNING):(E\w+:.*)", out)
        return {line for line in lines if not line.startswith("EINSTANCEPOLICY")}

    def disk(self) -> Path:
        """The file of the instance's disk."""
        (path,) = (each for each in self.cluster.layout.root.rglob("*.file.disk0") if NAME in str(each))
        return path

    def test_faults(self) -> None:
        """A dead instance, one of nobody's, a disk that is gone, a stray file, and an OS on one node only."""
        self.assertEqual(self.found(), set())
        running = self.paths.run_dir / "fake-hypervisor"
        (running / NAME).rename(running / "ghost.example.com")
        disk = self.disk()
        disk.rename(disk.with_name("stray"))
        os = self.paths.os_search_path[0] / "extra"
        shutil.copytree(self.paths.os_search_path[0] / OS.partition("+")[0], os)
        found = self.found()
        for code, text in {
            "EINSTANCEDOWN": f"instance:{NAME}:instance not running on its primary node {self.node.name}",
            "ENODEORPHANINSTANCE": f"node:{self.node.name}:unknown instance ghost.example.com is running",
            "EINSTANCEFAULTYDISK": f"instance:{NAME}:couldn't retrieve status for disk/0 on {self.node.name}",
            "ENODEORPHANLV": f"node:{self.node.name}:volume ",
            "ENODEOS": f"node:{self.node.name}:Extra OS extra not present on reference node",
        }.items():
            self.assertTrue([line for line in found if line.startswith(f"{code}:{text}")], (code, found))
        (running / "ghost.example.com").rename(running / NAME)
        disk.with_name("stray").rename(disk)
        shutil.rmtree(os)
        self.assertEqual(self.found(), set())
        self.assertIn("No disks need to be activated.", self.cluster.ok("gnt-cluster verify-disks"))
