"""Guests that move with routed interfaces, in namespaces: what a guest knows of its neighbours stays right on its new node."""

from ganeti_tx.model.instance_communication import NODE_ADDRESS
from ganeti_tx.node.hypervisor.nics.node_ends import STOP, NodeEnds
from ganeti_tx.node.hypervisor.nics.script_environment import YES, NodeEnd
from ganeti_tx.node.hypervisor.nics.scripts import NoScripts
from ganeti_tx.test.real.namespaces import NamespaceCase, NamespaceRunner

GUEST, GUEST6, TALKING = "192.0.2.77", "2001:db8::77", "169.254.3.1"
#: Who is found behind either node.
SERVER, SERVER6 = "198.51.100.1", "2001:db8:1::1"


class MigrationTests(NamespaceCase):
    """Two nodes, of which one has the guest; its own interface never goes down."""

    async def setUp(self) -> None:  # type: ignore[override]  # trial waits for it
        self.nodes = [await self.new_namespace(word) for word in ("n", "m")]
        self.wire = await self.new_namespace("w")
        await self.wire.does("ip link add name br0 up type bridge")
        self.guest = await self.new_neighbour(self.wire, "g", "guest")
        await self.wire.does("ip link set guest master br0")
        for family in ("ipv4", "ipv6"):  # what the guest knows, it believes for long
            await self.guest.does(f"sysctl -qw net/{family}/neigh/eth0/base_reachable_time_ms=3600000")
        for number, node in enumerate(self.nodes):
            await node.does(f"ip address add {SERVER}/32 dev lo")
            await node.does(f"ip address add {SERVER6}/128 dev lo nodad")
            await node.does(f"ip link add name tap1 type veth peer name port{number} netns {self.wire.namespace}")
            await self.wire.does(f"ip link set port{number} up master br0")

    async def move(self, *ends: NodeEnd) -> None:
        """Take it from one node to the other."""
        for end in ends:
            await NodeEnds(self.nodes[0], NoScripts()).disconnect(end, STOP)
        await self.nodes[0].does("ip link del tap1")
        await self.arrive(self.nodes[1], *ends)

    async def arrive(self, node: NamespaceRunner, *ends: NodeEnd) -> None:
        """Connect it there."""
        for end in ends:
            await NodeEnds(node, NoScripts()).connect(end)

    async def reaches(self, address: str) -> None:
        """A packet gets from the guest there and back, by what it knows."""
        result = await self.guest.run(["busybox", "ping", "-c", "1", "-w", "10", address])
        self.assertTrue(result.succeeded, await self.guest.does("ip neigh show"))

    async def test_routed(self) -> None:
        """It reaches by its new node whom it reached by the other: neighbours for whom that answers, and a router."""
        await self.guest.does(f"ip address add {GUEST}/32 dev eth0")
        await self.guest.does(f"ip address add {GUEST6}/128 dev eth0 nodad")
        ends = [NodeEnd({"INTERFACE": "tap1", "MODE": "routed", "MAC": "", "IP": ip}) for ip in (GUEST, GUEST6)]
        await self.arrive(self.nodes[0], *ends)
        shown = await self.nodes[0].does("ip -6 -o address show dev tap1 scope link")
        router, _length = shown.split()[3].split("/")
        await self.guest.does("ip route add default dev eth0")
        await self.guest.does(f"ip -6 route add default via {router} dev eth0")
        for address in (SERVER, SERVER6):
            await self.reaches(address)
        await self.move(*ends)
        for address in (SERVER, SERVER6):
            await self.reaches(address)

    async def test_communication(self) -> None:
        """It goes on talking to its node, which is another one."""
        await self.guest.does(f"ip address add {TALKING}/16 dev eth0")
        told = {"INTERFACE": "tap1", "MODE": "routed", "MAC": "", "IP": TALKING, "COMMUNICATION": YES}
        await self.arrive(self.nodes[0], NodeEnd(told))
        await self.reaches(NODE_ADDRESS)
        await self.move(NodeEnd(told))
        await self.reaches(NODE_ADDRESS)
