"""Roles of real nodes: gnt-node modify and gnt-cluster modify against running daemons."""

import json
import time
from collections.abc import Callable
from pathlib import Path

from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.real.devcluster import DevClusterUnderTest, commands_are_installed

#: Seconds for what daemons do by themselves.
SOON = 30.0


class RolesTests(TestCase):
    """A devcluster of three candidates."""

    timeout = 600

    def setUp(self) -> None:
        if not commands_are_installed():
            raise SkipTest("the commands are not installed beside this Python (pip install -e .)")
        self.cluster = DevClusterUnderTest(("--enabled-hypervisors=fake",))
        self.addCleanup(self.cluster.close)
        self.names = [node.name for node in self.cluster.layout.nodes]
        self.paths = [Paths(Path(node.root)) for node in self.cluster.layout.nodes]

    def roles(self) -> list[str]:
        """A letter for each node."""
        return self.cluster.ok("gnt-node list --no-headers -o role").split()

    def serial(self, number: int) -> int | None:
        """Of a node's configuration."""
        path = self.paths[number - 1].config_file
        return json.loads(path.read_text())["serial_no"] if path.exists() else None

    def jobs(self, number: int) -> set[str]:
        """The live copies on a node."""
        return {path.name for path in self.paths[number - 1].queue_dir.glob("job-*")}

    def soon(self, happens: Callable[[], object]) -> None:
        """It happens by itself."""
        limit = time.monotonic() + SOON
        while not happens():
            self.assertLess(time.monotonic(), limit, "it did not happen")
            time.sleep(0.1)

    def test_roles(self) -> None:
        """Nodes are demoted, drained, offline and back; others take their place; copies come and go with the role."""
        _, two, three = self.names
        self.cluster.ok("gnt-cluster modify -C 2 --max-running-jobs 9")
        self.assertIn("- master_candidate -> False", self.cluster.ok(f"gnt-node modify -C no {three}"))
        self.assertEqual(self.roles(), ["M", "C", "R"])
        self.soon(lambda: self.serial(3) is None and not self.jobs(3))
        status, _, err = self.cluster.run(["gnt-node", "modify", "-D", "yes", two])
        self.assertEqual(status, 1)
        self.assertIn("--auto-promote", err)
        out = self.cluster.ok(f"gnt-node modify -D yes --auto-promote {two}")
        self.assertIn(f"Promoted nodes to master candidate role: {three}", out)
        self.assertEqual(self.roles(), ["M", "D", "C"])
        self.soon(lambda: self.serial(3) == self.serial(1) and self.jobs(3) == self.jobs(1))
        self.assertIsNone(self.serial(2))
        self.cluster.ok(f"gnt-node modify -O yes {two}")
        self.assertEqual(self.roles(), ["M", "O", "C"])
        self.assertIn("1 offline node(s) found", self.cluster.ok("gnt-cluster verify"))
        self.cluster.ok(f"gnt-node modify -O no {two}")
        out = self.cluster.ok("gnt-cluster modify -C 3")
        self.assertIn(f"Promoted nodes to master candidate role: {two}", out)
        self.assertEqual(self.roles(), ["M", "C", "C"])
        self.cluster.ok("gnt-cluster redist-conf")
        self.soon(lambda: self.serial(2) == self.serial(3) == self.serial(1))
        self.soon(lambda: self.jobs(2) == self.jobs(3) == self.jobs(1))
        self.assertTrue(self.paths[1].authority_key.exists())
        self.cluster.ok("gnt-cluster verify")
        self.assertIn("running simultaneously: 9", self.cluster.ok("gnt-cluster info"))
