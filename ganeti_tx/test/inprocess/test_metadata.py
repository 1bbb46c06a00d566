"""What instances are told of themselves, from the command to what they read."""

import json
from typing import Any

from ganeti_tx.errors import HypervisorError
from ganeti_tx.metad.guests import Guests
from ganeti_tx.metad.kept import load
from ganeti_tx.model.instance_spec import NicSpec
from ganeti_tx.node.hypervisor.fake.driver import FakeHypervisor
from ganeti_tx.node.hypervisor.nics.names import interface_name
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
        status, kind, body = GuestClient(address, self.interface(address), guests).ask(path)
        return status, json.loads(body) if kind == "application/json" else body

    def interface(self, address: str) -> str:
        """What a node calls its end of the NIC with an address."""
        nics = [nic for instance in self.cluster.config.instances.values() for nic in instance.nics]
        uuid = next((nic.uuid for nic in nics if nic.ip == address), "")
        nic = NicSpec(uuid=uuid, mac="", mode="routed", link="", communication=True)
        return interface_name(self.cluster.paths.root, nic, "")

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

    def test_untold(self) -> None:
        """That its node cannot tell it is said by each command that starts it, and by verification."""
        for number in (2, 3):
            self.cluster.node(number).metadata.fault = "ganeti-metad did not start: port 80 is taken"
        self.ok(f"{ADD} -c yes -n node2 web1")
        untold = "WARNING: node node{}.example.com: instance web1.example.com is not told of itself: .*port 80 is taken"
        for number, command in (
            (2, "gnt-instance startup web1"),
            (2, "gnt-instance reboot web1"),
            (3, "gnt-instance migrate -f -n node3 web1"),
            (2, "gnt-instance failover -f -n node2 web1"),
        ):
            self.assertRegex(self.ok(command), untold.format(number))
        found = "ENODESETUP:node:node2.example.com:instance web1.example.com is told nothing of itself: "
        self.assertIn(f"ERROR:{found}ganeti-metad does not run", self.verified())
        self.cluster.node(2).metadata.up = True
        self.assertNotIn("told nothing", self.verified())
        node = self.cluster.node(2)
        node.disk.remove(node.paths.metadata_dir / "web1.example.com")
        self.assertIn(f"WARNING:{found}ganeti-metad does not know it", self.verified())
        self.ok("gnt-instance shutdown web1")
        self.assertNotIn("told nothing", self.verified())

    def verified(self) -> str:
        """What verification says."""
        _, out, err = self.scene().run(["gnt-cluster", "verify", "--error-codes"])
        return out + err

    def test_reboot(self) -> None:
        """It is told anew, however it is done; what does not come up again is known to nobody."""
        self.ok(f"{ADD} -c yes -n node2 -O flavour=vanilla --no-start web1")
        self.ok("gnt-instance startup web1")
        for kind in ("hard", "soft"):
            self.cluster.node(2).metadata.guests.forget("web1.example.com")
            self.ok(f"gnt-instance reboot -t {kind} web1")
            self.assertEqual(self.parameters(2), {"flavour": ["vanilla", "public"]})
        self.assertEqual(self.kept(2), ["web1.example.com"])

        async def refuse(*_: object) -> None:
            raise HypervisorError("it has no memory")

        self.patch(FakeHypervisor, "start", refuse)
        self.fails("gnt-instance reboot web1", "it has no memory")
        self.assertEqual((self.ask(2, "/")[0], self.kept(2)), (404, []))
