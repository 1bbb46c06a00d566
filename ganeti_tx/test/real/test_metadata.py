"""The metadata daemon as a process, started by a node for guests that are network namespaces on wires of their own."""

import json
import os
import shutil
import signal
from pathlib import Path
from tempfile import mkdtemp

from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import TestCase

from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.test.metad.guest import KEY
from ganeti_tx.test.real.metadata_guests import WiredGuest, Wires, why_not
from ganeti_tx.test.real.metadata_node import MetadataNode, free_port

SECRET = "open sesame"


class MetadataDaemonTests(TestCase):
    """Two guests; what the one is told the other does not get."""

    timeout = 240
    if os.geteuid() != 0:
        skip = "only root has network namespaces"
    elif (obstacle := why_not()) is not None:
        skip = obstacle

    def setUp(self) -> None:
        port = free_port()
        top = Path(mkdtemp(prefix="md"))
        self.addCleanup(shutil.rmtree, top)
        self.guests = [WiredGuest(1, port), WiredGuest(2, port)]
        self.node = MetadataNode(top, {"kvm": Wires(self.guests)}, port)
        self.patch(os, "environ", self.node.environment)
        self.addCleanup(self.node.end, signal.SIGTERM)
        for guest in self.guests:
            guest.remove()  # of a test that was killed
            self.addCleanup(guest.remove)
            guest.make()

    def spec(self, guest: WiredGuest) -> InstanceSpec:
        """The instance that a guest is."""
        nic = NicSpec(
            uuid=f"n{guest.number}",
            mac=guest.mac,
            mode="routed",
            link="",
            ip=guest.address,
            communication=True,
        )
        return InstanceSpec(
            name=f"web{guest.number}.example.com",
            uuid=f"u{guest.number}",
            primary_node="node1",
            hypervisor="kvm",
            os="",
            hvparams={},
            beparams={},
            nics=[nic],
            osparams={"ssh_authorized_keys": KEY},
            osparams_private={"pin": f"{guest.number}{guest.number}"},
            osparams_secret={"word": SECRET},
        )

    def ask(self, guest: WiredGuest, path: str) -> "Deferred[str]":
        """What it gets, while this process goes on."""
        return deferToThread(guest.ask, path)

    async def with_route_of(self, one: WiredGuest, other: WiredGuest) -> None:
        """A guest to which the node routes the address of another one is not taken for it when that is told again."""
        other.route_to(one)
        await self.node.metadata.tell(self.spec(other))
        one.use(other.address)
        self.assertEqual(await self.ask(one, "/ganeti/latest/os/parameters.json"), "not found\n404")
        one.use(one.address)
        other.route_to(other)
        await self.node.metadata.tell(self.spec(other))

    async def test_guests(self) -> None:
        """Each gets its name and key by its wire, with the other's address and route it gets nothing; secrets are not kept."""
        one, two = self.guests
        for guest in self.guests:
            await self.node.metadata.tell(self.spec(guest))
        for guest in self.guests:
            lease = await deferToThread(guest.find_address)
            self.assertIn(f"lease of {guest.address} obtained", lease)
            self.assertEqual(await self.ask(guest, "/latest/meta-data/hostname"), f"web{guest.number}.example.com200")
            self.assertEqual(await self.ask(guest, "/latest/meta-data/public-keys/0/openssh-key"), f"{KEY}200")
        one.remove()  # as an instance that is stopped and started, whose interface has the name it had
        one.make()
        await self.node.metadata.tell(self.spec(one))
        self.assertIn(f"lease of {one.address} obtained", await deferToThread(one.find_address))
        path = "/ganeti/latest/os/parameters.json"
        told = json.loads((await self.ask(one, path)).removesuffix("200"))
        self.assertEqual((told["pin"], told["word"]), (["11", "private"], [SECRET, "secret"]))
        one.use(two.address)
        self.assertIn(await deferToThread(one.ask, path, 3), ("000", "not found\n404"))
        one.use(one.address)
        await self.with_route_of(two, one)
        await self.node.metadata.forget("web2.example.com")
        self.assertEqual(await self.ask(two, path), "not found\n404")
        await deferToThread(self.node.end, signal.SIGKILL)
        for left in self.node.paths.root.rglob("*"):
            if left.is_file():
                self.assertNotIn(SECRET.encode(), left.read_bytes(), left)
        await self.node.daemon.start()
        told = json.loads((await self.ask(one, path)).removesuffix("200"))
        self.assertEqual(sorted(told), ["pin", "ssh_authorized_keys"])
        self.assertEqual(await self.ask(two, path), "not found\n404")
        said = await deferToThread(self.node.programs.run_here, "gnt-debug", "metad", "echo", "hello")
        self.assertEqual(said, "Answer: hello\n")
