"""A node that is gone for good: what is said of its instances can be followed, word by word."""

import re
from random import Random

from ganeti_tx.test.inprocess.mirrored_case import MirroredCase

ADD = "gnt-instance add -H fake -o noop --no-name-check --no-ip-check --ignore-ipolicy -s 1G"
NODES = {"mirrored": "node2:node3", "shared": "node2", "local": "node2"}
TEMPLATES = {"mirrored": "drbd", "shared": "sharedfile", "local": "file"}


class GoneNodeTests(MirroredCase):
    """Node2 has an instance of each kind, and goes."""

    def setUp(self) -> None:
        super().setUp()
        for name, template in TEMPLATES.items():
            self.ok(f"{ADD} -t {template} -n {NODES[name]} {name}")
        self.cluster.lose_power(self.cluster.node(2), Random(1))
        self.told = self.ok("gnt-node modify -O yes node2")

    def follow(self, advice: str) -> None:
        """Do what stands in quotes, the last first where one is to be done before."""
        words = re.findall("'(gnt-[^']*)'", advice)
        for line in reversed(words):
            self.ok(line.replace("NODE", "node3").replace("INSTANCE", "local").replace(" failover ", " failover -f "))

    def primary(self, name: str) -> str:
        """The primary node of an instance."""
        return self.ok(f"gnt-instance list --no-headers -o pnode {name}").strip()

    def test_told(self) -> None:
        """A line for each way."""
        [mirrored] = re.findall(r"primary node of mirrored; (.*)", self.told)
        self.assertEqual(mirrored, "'gnt-node failover node2.example.com' starts them on other nodes")
        [shared] = re.findall(r"primary node of shared; (.*)", self.told)
        self.follow(shared.replace("INSTANCE", "shared"))
        self.assertEqual(self.primary("shared"), "node3.example.com")
        [local] = re.findall(r"primary node of local; (.*)", self.told)
        self.follow(local)
        self.assertEqual(self.primary("local"), "node3.example.com")

    def test_cleanup(self) -> None:
        """A clean-up that finds the instance nowhere says what starts it elsewhere."""
        for name in ("mirrored", "shared"):
            advice = self.fails(f"gnt-instance migrate -f --cleanup {name}", "does not seem to be running at all")
            self.follow(advice)
            self.assertEqual(self.primary(name), "node3.example.com")
