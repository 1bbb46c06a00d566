"""Routed interfaces and those for communication with the node, in namespaces: addresses are answered, packets pass."""

import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from ganeti_tx.model.instance_communication import DHCP_PORT, METADATA_PORT, NODE_ADDRESS
from ganeti_tx.node.hypervisor.nics.node_ends import STOP, NodeEnds
from ganeti_tx.node.hypervisor.nics.script_environment import YES, NodeEnd
from ganeti_tx.node.hypervisor.nics.scripts import UserScripts
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.real.namespaces import NamespaceCase, NamespaceRunner

ROOT = Path(__file__).parents[3]
GUEST, NEIGHBOUR, NODE = "192.0.2.77", "192.0.2.9", "192.0.2.1"
GUEST6, NEIGHBOUR6, NODE6 = "2001:db8::77", "2001:db8::9", "2001:db8::1"
MAC = "aa:00:00:00:00:01"


def new_end(interface: str, address: str, **more: str) -> NodeEnd:
    """Of a guest with that address."""
    return NodeEnd({"INTERFACE": interface, "MODE": "routed", "LINK": "", "MAC": MAC, "IP": address, **more})


def end_of(number: int) -> NodeEnd:
    """Of a guest that talks to its node."""
    return new_end(f"gnt.com.{number}", f"169.254.3.{number}", LINK="communication_rt", COMMUNICATION=YES)


class RoutedCase(NamespaceCase):
    """A node between a neighbour on its own network and a guest."""

    async def setUp(self) -> None:  # type: ignore[override]  # trial waits for it
        self.node = await self.new_namespace("n")
        self.paths = Paths(Path(self.mktemp()).absolute())
        self.ends = NodeEnds(self.node, UserScripts(RealFiles(InlineThreads()), self.paths, "kvm"))
        self.outside = await self.new_neighbour(self.node, "o", "eth0")
        for place, addresses in ((self.node, (NODE, NODE6)), (self.outside, (NEIGHBOUR, NEIGHBOUR6))):
            await place.does(f"ip address add {addresses[0]}/24 dev eth0")
            await place.does(f"ip address add {addresses[1]}/64 dev eth0 nodad")

    async def reaches(self, place: NamespaceRunner, address: str) -> None:
        """A packet gets there and back."""
        result = await place.run(["busybox", "ping", "-c", "1", "-w", "20", address])
        self.assertTrue(result.succeeded, f"{place.namespace} does not reach {address}: {result.describe()}")

    async def never_reach(self, *tried: tuple[NamespaceRunner, str]) -> None:
        """None gets there in a second; what is to be reached is at once."""
        pings = [place.run(["busybox", "ping", "-c", "1", "-W", "1", address]) for place, address in tried]
        self.assertFalse(any([(await ping).succeeded for ping in pings]))

    async def left(self, interface: str) -> str:
        """Rules, routes and answers of the node that have to do with an interface or its guest's address."""
        shown = [
            await self.node.does(f"ip {family} -o {what}")
            for family in ("-4", "-6")
            for what in ("rule show", "neigh show proxy", "route show table all")
        ]
        words = (f" {interface} ", GUEST, GUEST6)
        return "\n".join(line for line in "".join(shown).splitlines() if any(word in f"{line} " for word in words))


class RoutedTests(RoutedCase):
    """Guests that are routed to."""

    async def test_ipv4(self) -> None:
        """The node answers for the guest outside and for the outside at the guest, and passes on; until it is disconnected."""
        guest = await self.new_neighbour(self.node, "g", "tap1")
        await guest.does(f"ip address add {GUEST}/32 dev eth0")
        await guest.does("ip route add default dev eth0")
        await self.node.does("sysctl -qw net.ipv4.ip_forward=1")
        await self.never_reach((self.outside, GUEST))
        end = new_end("tap1", GUEST)
        for _ in range(2):  # which may be asked for again
            await self.ends.connect(end)
        await self.outside.does("ip neigh flush all")
        await self.reaches(self.outside, GUEST)
        await self.reaches(guest, NEIGHBOUR)
        of_node = (await self.node.does("cat /sys/class/net/eth0/address")).strip()
        self.assertIn(of_node, await self.outside.does(f"ip neigh show {GUEST}"))
        await self.ends.disconnect(end, STOP)
        await self.node.does("ip link del tap1")
        self.assertEqual(await self.left("tap1"), "")

    async def test_ipv6(self) -> None:
        """The same with IPv6, where the guest finds its gateway by the node."""
        guest = await self.new_neighbour(self.node, "g", "tap1")
        await guest.does(f"ip address add {GUEST6}/128 dev eth0 nodad")
        await guest.does(f"ip route add {NEIGHBOUR6} dev eth0")
        await guest.does(f"ip route add default via {NEIGHBOUR6} dev eth0")
        await self.node.does("sysctl -qw net.ipv6.conf.all.forwarding=1")
        end = new_end("tap1", GUEST6, NETWORK_GATEWAY6=NEIGHBOUR6)
        await self.ends.connect(end)
        await self.reaches(self.outside, GUEST6)
        await self.reaches(guest, NEIGHBOUR6)
        await self.ends.disconnect(end, STOP)
        await self.node.does("ip link del tap1")
        self.assertEqual(await self.left("tap1"), "")

    async def test_table(self) -> None:
        """With a link the guest is in that table alone, which counts for what comes from it; no rule outlives an interface."""
        guest = await self.new_neighbour(self.node, "g", "tap1")
        end = new_end("tap1", GUEST, LINK="100")
        await self.node.does(f"ip route add unreachable {NEIGHBOUR} table 100")
        for _ in range(2):
            await self.ends.connect(end)
        self.assertIn("tap1", await self.node.does("ip route show table 100"))
        self.assertNotIn("tap1", await self.node.does("ip route show"))
        self.assertEqual(len((await self.node.does("ip rule show iif tap1")).splitlines()), 1)
        went = await self.node.run(["ip", "route", "get", NEIGHBOUR, "from", GUEST, "iif", "tap1"])
        self.assertFalse(went.succeeded)
        await guest.does("ip link del eth0")  # the guest has ended by itself, and its interface went with it
        self.assertIn("detached", await self.node.does("ip rule show iif tap1"))
        await self.ends.disconnect(end, STOP)
        self.assertEqual(await self.left("tap1"), "")

    async def test_script(self) -> None:
        """A script of the administrator's does as it likes, and has us do the rest by our own program, in both directions."""
        guest = await self.new_neighbour(self.node, "g", "tap1")
        await guest.does(f"ip address add {GUEST}/32 dev eth0")
        await guest.does("ip route add default dev eth0")
        conf_dir = self.paths.conf_dir
        conf_dir.mkdir(parents=True)
        for name, program in (("kvm-vif-bridge", "kvm-ifup"), ("kvm-ifdown-custom", "kvm-ifdown")):
            ours = f"{sys.executable} -m ganeti_tx.node.hypervisor.nics.program {program}"
            (conf_dir / name).write_text(
                f'#!/bin/sh\ncd {ROOT}; echo "$@" $MODE $IP >{conf_dir}/said; exec {ours} "$1"\n'
            )
            (conf_dir / name).chmod(0o755)
        end = new_end("tap1", GUEST)
        await self.ends.connect(end)
        self.assertEqual((conf_dir / "said").read_text(), f"tap1 routed {GUEST}\n")
        await self.reaches(guest, NODE)
        self.assertIn("eth0", await self.left("tap1"))
        await self.ends.disconnect(end, STOP)
        self.assertEqual((conf_dir / "said").read_text(), f"tap1 stop routed {GUEST}\n")
        self.assertNotIn("eth0", await self.left("tap1"))


class AnnouncementTests(RoutedCase):
    """Guests that have come from another node."""

    async def test_neighbours(self) -> None:
        """Neighbours who knew another node learn by themselves which one answers now."""
        await self.new_neighbour(self.node, "g", "tap1")
        for family in ("ipv4", "ipv6"):  # which would keep them from learning anew for a second
            await self.outside.does(f"sysctl -qw net/{family}/neigh/eth0/locktime=0")
        of_node = (await self.node.does("cat /sys/class/net/eth0/address")).strip()
        for address in (GUEST, GUEST6):
            await self.outside.does(f"ip neigh replace {address} lladdr 02:00:00:00:00:99 dev eth0 nud stale")
            await self.ends.connect(new_end("tap1", address))
            while of_node not in (known := await self.outside.does(f"ip neigh show {address}")):
                self.assertIn("02:00:00:00:00:99", known)


class CommunicationTests(RoutedCase):
    """Guests that talk to their node."""

    async def test_node_only(self) -> None:
        """Each guest reaches the node, which reaches each; none reaches another one or the outside, even if the node routes."""
        await self.node.does("sysctl -qw net.ipv4.ip_forward=1")
        guests = {}
        for number in (1, 2):
            guests[number] = await self.new_neighbour(self.node, f"g{number}", f"gnt.com.{number}")
            await guests[number].does(f"ip address add 169.254.3.{number}/16 dev eth0")
            await guests[number].does("ip route add default dev eth0")
            for _ in range(2):
                await self.ends.connect(end_of(number))
        for number, guest in guests.items():
            await self.reaches(guest, NODE_ADDRESS)
            await self.reaches(self.node, f"169.254.3.{number}")
        await self.node.does("sysctl -qw net.ipv4.ip_forward=0 net.ipv4.ip_forward=1")  # whoever wants that now
        await self.never_reach((guests[1], "169.254.3.2"), (guests[1], NEIGHBOUR))
        await self.node.does("ip link del gnt.com.1")
        await self.ends.disconnect(end_of(1), STOP)
        self.assertEqual(await self.left("gnt.com.1"), "")
        await self.reaches(guests[2], NODE_ADDRESS)

    async def test_metadata_only(self) -> None:
        """Of all that the node has listening a guest reaches what tells it of itself, whatever routes it has."""
        guest = await self.new_neighbour(self.node, "g1", "gnt.com.1")
        await self.ends.connect(end_of(1))
        await guest.does("ip address add 169.254.3.1/16 dev eth0")
        await guest.does("ip route add default dev eth0")
        await guest.does(f"ip route add {NODE} via {NODE_ADDRESS}")
        with ExitStack() as open_sockets:
            heard = self.node.inside(lambda: listening(open_sockets))
            places = [(address, port) for address in (NODE_ADDRESS, NODE) for port in (METADATA_PORT, OTHER_PORT)]
            reached = guest.inside(lambda: [each for each in places if connects(*each)])
            self.assertEqual(reached, [(NODE_ADDRESS, METADATA_PORT)])
            said = [(NODE, OTHER_PORT), (NODE_ADDRESS, OTHER_PORT), (NODE, DHCP_PORT)]
            taken = [(NODE_ADDRESS, DHCP_PORT), ("255.255.255.255", DHCP_PORT)]
            guest.inside(lambda: say([*said, *taken]))
            self.assertEqual([heard[DHCP_PORT].recv(100).decode() for _ in taken], [each[0] for each in taken])
            heard[OTHER_PORT].setblocking(False)
            self.assertRaises(BlockingIOError, heard[OTHER_PORT].recv, 100)


#: Of a service of the node's that is no guest's business.
OTHER_PORT = 1815


def listening(until: ExitStack) -> dict[int, socket.socket]:
    """What listens at all addresses for connections, and what hears datagrams, by port."""
    for port in (METADATA_PORT, OTHER_PORT):
        until.enter_context(socket.create_server(("", port)))
    heard = {}
    for port in (DHCP_PORT, OTHER_PORT):
        heard[port] = until.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        heard[port].settimeout(10)
        heard[port].bind(("", port))
    return heard


def connects(address: str, port: int) -> bool:
    """Whether a connection is opened there; soon, if ever."""
    try:
        socket.create_connection((address, port), 0.5).close()
    except OSError:
        return False
    return True


def say(places: Sequence[tuple[str, int]]) -> None:
    """Send to each its address, in a datagram."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mouth:
        mouth.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        for place in places:
            mouth.sendto(place[0].encode(), place)
