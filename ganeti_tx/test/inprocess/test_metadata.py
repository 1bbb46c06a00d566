"""What instances are told of themselves, from the command to what they read."""

import json
from typing import Any

from ganeti_tx.metad.guests import Guests
from ganeti_tx.metad.kept import load
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.metad.guest import GuestClient

ADD = "gnt-instance add -t diskless -o noop --no-install"


class MetadataCase(ClusterCase):
    """A cluster whose instances talk to their nodes."""

    def setUp(self) -> None:
        super().setUp()
        self.ok("gnt-cluster modify --instance-communication-network=mesh")

    def ask(self, node: int, path: str, address: str = "169.254.0.1") -> tuple[int, Any]:
        """What the instance with an address gets from a node."""
        guests = self.cluster.node(node).metadata.guests
        status, kind, body = GuestClient(address, f"tap{address}", guests).ask(path)
        return status, json.loads(body) if kind == "application/json" else body

    def parameters(self, node: int, address: str = "169.254.0.1") -> Any:
        """Its OS parameters."""
        return self.ask(node, "/ganeti/latest/os/parameters.json", address)[1]

    def kept(self, node: int) -> list[str]:
        """Who would be known to a metadata daemon that is started again."""
        guests = Guests()
        load(guests, self.cluster.node(node).disk, self.cluster.paths)
        return guests.names


class MetadataTests(MetadataCase):
    """While they run."""

    def test_life(self) -> None:
        """It is told when it starts, when it changes, where it goes; and nobody is when it is down."""
        self.ok(f"{ADD} -c yes -n node2 -O flavour=vanilla --no-start web1")
        self.assertFalse(self.cluster.node(2).metadata.up)
        self.assertEqual(self.ask(2, "/latest/meta-data/hostname")[0], 404)
        self.ok("gnt-instance startup web1")
        self.assertEqual(self.ask(2, "/latest/meta-data/hostname"), (200, "web1.example.com"))
        self.assertEqual(self.parameters(2), {"flavour": ["vanilla", "public"]})
        self.ok("gnt-instance modify -O flavour=mint web1")
        self.assertEqual(self.parameters(2), {"flavour": ["mint", "public"]})
        self.ok("gnt-instance migrate -f -n node3 web1")
        self.assertEqual((self.ask(2, "/")[0], self.parameters(3)), (404, {"flavour": ["mint", "public"]}))
        self.assertEqual((self.kept(2), self.kept(3)), ([], ["web1.example.com"]))
        self.ok("gnt-instance shutdown web1")
        self.assertEqual((self.ask(3, "/")[0], self.kept(3)), (404, []))
