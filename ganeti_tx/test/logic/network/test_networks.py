"""Tests of making, changing, connecting and removing networks."""

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.hook import HookNodes
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.model import opcodes as ops
from ganeti_tx.model.network import Network
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.test.logic.stage import CONFIG, GROUP, INSTANCE, UnitTestCase

LAN = Network(
    serial_no=1,
    uuid="lan-uuid",
    name="lan",
    network="198.51.100.0/28",
    gateway="198.51.100.1",
    reservations="0010000000000000",
    ext_reservations="1100010000000001",
)
WAN = replace(LAN, uuid="wan-uuid", name="wan", reservations="0" * 16)
NIC = Nic(uuid="nic-uuid", mac="aa:00:00:00:00:01", nicparams={}, ip="198.51.100.2", network=LAN.uuid)
#: web1 is in lan, which its group has; nobody has wan.
CONNECTED = replace(
    CONFIG,
    networks={LAN.uuid: LAN, WAN.uuid: WAN},
    nodegroups={GROUP.uuid: replace(GROUP, networks={LAN.uuid: {"mode": "bridged", "link": "br0", "vlan": ""}})},
    instances={INSTANCE.uuid: replace(INSTANCE, nics=(NIC,))},
)


def asking(op_id: str, **params: object) -> OpCode:
    """A request as clients write it."""
    return ops.decode({"OP_ID": op_id, **params})


def connecting(name: str = "wan", **more: object) -> OpCode:
    """The connection of the only group."""
    asked = {"group_name": "default", "network_mode": "bridged", "network_link": "br1", **more}
    return asking("OP_NETWORK_CONNECT", network_name=name, **asked)


class NetworkCase(UnitTestCase):
    """Two networks, one of them in use."""

    initial = CONNECTED

    def network(self, name: str = "lan") -> Network:
        """As the configuration has it."""
        return next(each for each in self.stage.snapshot.networks.values() if each.name == name)

    def bad(self, op: OpCode, code: ECode, text: str) -> None:
        """A request is refused with a code, and changes nothing."""
        before = self.stage.snapshot
        error = self.failureResultOf(self.stage.run(op), OpPrereqError).value
        assert isinstance(error, OpPrereqError)
        self.assertIn(text, str(error))
        self.assertEqual(error.ecode, code, str(error))
        self.assertEqual(self.stage.snapshot, before)


class AddTests(NetworkCase):
    """OP_NETWORK_ADD."""

    def test_plain(self) -> None:
        """Its ends are nobody's; all else is free, as nobody of the cluster is there."""
        self.run_op(asking("OP_NETWORK_ADD", network_name="net", network="10.6.0.0/29"))
        made = self.network("net")
        self.assertEqual((made.reservations, made.ext_reservations), ("00000000", "10000001"))
        self.assertEqual((made.gateway, made.network6, made.mac_prefix, made.tags), (None, None, None, ()))
        self.assertEqual(self.stage.feedback, [])

    def test_whole(self) -> None:
        """Gateway and reserved addresses are kept from instances; the rest is as it was given."""
        self.run_op(
            asking(
                "OP_NETWORK_ADD",
                network_name="net",
                network="10.5.0.0/28",
                gateway="10.5.0.1",
                network6="2001:db8:5::/64",
                gateway6="2001:db8:5::1",
                mac_prefix="AA:00:55",
                add_reserved_ips=["10.5.0.5", "10.5.0.6", "10.5.0.5"],
                tags=["b", "a"],
            )
        )
        made = self.network("net")
        self.assertEqual(made.ext_reservations, "1100011000000001")
        self.assertEqual((made.mac_prefix, made.tags), ("aa:00:55", ("b", "a")))
        self.assertEqual((made.gateway, made.network6, made.gateway6), ("10.5.0.1", "2001:db8:5::/64", "2001:db8:5::1"))

    def test_cluster_inside(self) -> None:
        """The addresses of the nodes and of the master are kept from instances, unless conflicts are not looked for."""
        self.run_op(asking("OP_NETWORK_ADD", network_name="net", network="192.0.2.0/28"))
        self.assertEqual(self.network("net").ext_reservations, "1100000000011001")
        self.assertEqual(
            self.stage.feedback,
            [
                "- INFO: Reserved IP address of node 'node1.example.com' (192.0.2.11)",
                "- INFO: Reserved IP address of node 'node2.example.com' (192.0.2.12)",
                "- INFO: Reserved cluster master IP address (192.0.2.1)",
            ],
        )
        self.assertEqual(self.stage.locked, {"cluster/BGL": "shared", "node/[lockset]": "shared"})
        self.run_op(asking("OP_NETWORK_ADD", network_name="net2", network="192.0.2.0/28", conflicts_check=False))
        self.assertEqual(self.network("net2").ext_reservations, "1000000000000001")

    def test_largest_and_smallest(self) -> None:
        """A /16 and a /30 are pools."""
        self.run_op(asking("OP_NETWORK_ADD", network_name="big", network="10.1.0.0/16"))
        self.assertEqual(len(self.network("big").reservations or ""), 65536)
        self.run_op(asking("OP_NETWORK_ADD", network_name="small", network="10.2.0.0/30"))
        self.assertEqual(self.network("small").ext_reservations, "1001")

    def test_bad(self) -> None:
        """What clashes, and what cannot be."""
        for given, code, text in (
            ({"network_name": "LAN"}, ECode.EXISTS, "Desired network name 'LAN' already exists"),
            ({"network_name": "a\nb"}, ECode.INVAL, "network name 'a\\nb'"),
            ({"network": "10.7.0.1/24"}, ECode.INVAL, "10.7.0.1/24 has host bits set"),
            ({"network": "10.7.0.0/31"}, ECode.INVAL, "smaller than a /30"),
            ({"network": "10.0.0.0/8"}, ECode.INVAL, "larger than a /16"),
            ({"gateway": "10.8.0.1"}, ECode.INVAL, "10.7.0.0/24 does not contain 10.8.0.1"),
            ({"mac_prefix": "zz"}, ECode.INVAL, "'zz'"),
            ({"gateway6": "2001:db8::1"}, ECode.INVAL, "needs network6"),
            ({"network6": "2001:db8::/64", "gateway6": "fd00::1"}, ECode.INVAL, "does not contain gateway6 fd00::1"),
            ({"network6": "2001:db8::1/64"}, ECode.INVAL, "has host bits set"),
            ({"add_reserved_ips": ["10.9.0.1"]}, ECode.INVAL, "does not contain 10.9.0.1"),
            ({"tags": ["no tag!"]}, ECode.INVAL, "no tag!"),
        ):
            asked = {"network_name": "net", "network": "10.7.0.0/24", **given}
            self.bad(asking("OP_NETWORK_ADD", **asked), code, text)


class SetParamsTests(NetworkCase):
    """OP_NETWORK_SET_PARAMS."""

    def change(self, **more: object) -> list[str]:
        """What is said while lan is changed."""
        del self.stage.feedback[:]
        self.run_op(asking("OP_NETWORK_SET_PARAMS", network_name="lan", **more))
        return list(self.stage.feedback)

    def test_gateway(self) -> None:
        """The former one is free afterwards."""
        self.assertEqual(self.change(gateway="198.51.100.14"), [])
        self.assertEqual(self.network().ext_reservations, "1000010000000011")
        self.assertEqual(self.network().serial_no, 2)
        self.assertEqual(self.change(gateway="198.51.100.14"), ["- WARNING: Gateway is already 198.51.100.14"])
        self.assertEqual(self.network().serial_no, 2)

    def test_reserved(self) -> None:
        """What need not be done is warned of; an instance's address may be marked, too."""
        self.assertEqual(self.change(add_reserved_ips=["198.51.100.7", "198.51.100.2"]), [])
        self.assertEqual(self.network().ext_reservations, "1110010100000001")
        self.assertEqual(self.network().reservations, LAN.reservations)
        self.assertEqual(
            self.change(add_reserved_ips=["198.51.100.7", "10.9.0.1"]),
            [
                "- WARNING: Cannot reserve IP address 198.51.100.7: IP 198.51.100.7 is already externally reserved",
                "- WARNING: Cannot reserve IP address 10.9.0.1: 198.51.100.0/28 does not contain 10.9.0.1",
            ],
        )
        self.assertEqual(self.change(remove_reserved_ips=["198.51.100.7", "198.51.100.2"]), [])
        self.assertEqual(self.network().ext_reservations, LAN.ext_reservations)
        self.assertEqual(
            self.change(remove_reserved_ips=["198.51.100.7", "198.51.100.1", "198.51.100.15"]),
            [
                "- WARNING: Cannot release IP address 198.51.100.7: IP 198.51.100.7 is not externally reserved",
                "- WARNING: Cannot unreserve Gateway's IP",
                "- WARNING: Cannot release IP address 198.51.100.15: "
                "no host can have the first or the last address of a network",
            ],
        )
        self.assertEqual(self.network().ext_reservations, LAN.ext_reservations)

    def test_rest(self) -> None:
        """IPv6 and the MAC prefix; a range without its gateway of before is warned of."""
        self.assertEqual(self.change(network6="2001:db8::/64", gateway6="2001:db8::1", mac_prefix="aa:00:66"), [])
        self.assertEqual((self.network().gateway6, self.network().mac_prefix), ("2001:db8::1", "aa:00:66"))
        self.assertIn("does not contain the gateway 2001:db8::1", self.change(network6="fd01::/64")[0])
        self.assertEqual(self.network().network6, "fd01::/64")

    def test_bad(self) -> None:
        """What is taken, outside, or nothing."""
        for given, code, text in (
            ({}, ECode.INVAL, "nothing to change"),
            ({"gateway": "198.51.100.2"}, ECode.STATE, "Gateway IP address '198.51.100.2' is already reserved"),
            ({"gateway": "198.51.100.5"}, ECode.STATE, "already reserved"),
            ({"gateway": "10.8.0.1"}, ECode.INVAL, "198.51.100.0/28 does not contain 10.8.0.1"),
            ({"mac_prefix": "zz"}, ECode.INVAL, "'zz'"),
            ({"gateway6": "fd02::1"}, ECode.INVAL, "needs network6"),
            ({"network_name": "nosuch", "mac_prefix": "aa:00:66"}, ECode.NOENT, "nosuch"),
        ):
            self.bad(asking("OP_NETWORK_SET_PARAMS", **{"network_name": "lan", **given}), code, text)


class ConnectionTests(NetworkCase):
    """OP_NETWORK_CONNECT and OP_NETWORK_DISCONNECT."""

    def connections(self) -> dict[str, object]:
        """What the group has."""
        return dict(self.stage.snapshot.nodegroups[GROUP.uuid].networks)

    def test_connect(self) -> None:
        """The group has it, with its parameters; a second time nothing is changed."""
        self.run_op(connecting(conflicts_check=False, network_vlan="7"))
        self.assertEqual(self.connections()[WAN.uuid], {"mode": "bridged", "link": "br1", "vlan": "7"})
        locks = {"cluster/BGL": "shared", "nodegroup/group-uuid": "exclusive", "network/wan-uuid": "shared"}
        self.assertEqual(self.stage.locked, locks)
        self.run_op(connecting(network_link="br2"))
        self.assertEqual(self.stage.feedback, ["- WARNING: Network 'wan' is already mapped to group 'default'"])
        self.assertEqual(self.connections()[WAN.uuid], {"mode": "bridged", "link": "br1", "vlan": "7"})

    def test_conflict(self) -> None:
        """An instance of the group that has an address of it by other means stands in the way."""
        self.bad(connecting(), ECode.STATE, "Conflicting IP addresses found")
        self.assertEqual(
            self.stage.feedback,
            [
                "- WARNING: IP addresses from network 'wan', which is about to connect to node group 'default', "
                "are in use: web1.example.com: nic0/198.51.100.2"
            ],
        )

    def test_overlap(self) -> None:
        """Two networks with the same addresses cannot be reached in the same way, unless conflicts are not looked for."""
        instances = {INSTANCE.uuid: replace(INSTANCE, nics=())}
        lan = replace(LAN, reservations="0" * 16)
        half, apart = (
            replace(WAN, network=text, gateway=None, reservations="0" * 8, ext_reservations="10000001")
            for text in ("198.51.100.8/29", "198.51.100.16/29")
        )
        for network, given, refused in (
            (WAN, {"network_link": "br0"}, True),
            (half, {"network_link": "br0"}, True),
            (half, {"network_link": "br0", "conflicts_check": False}, False),
            (apart, {"network_link": "br0"}, False),
            (half, {"network_link": "br1"}, False),
            (half, {"network_link": "br0", "network_vlan": "7"}, False),
            (half, {"network_link": "br0", "network_mode": "openvswitch"}, False),
        ):
            networks = {LAN.uuid: lan, WAN.uuid: network}
            self.stage = self.make_stage(replace(CONNECTED, instances=instances, networks=networks))
            if refused:
                self.bad(connecting(**given), ECode.STATE, "overlaps 'lan' (198.51.100.0/28)")
            else:
                self.run_op(connecting(**given))
                self.assertIn(WAN.uuid, self.connections())

    def test_overlapping_local(self) -> None:
        """Link-local ranges overlap, as those of two networks for instance communication do."""
        local = replace(LAN, network="169.254.0.0/28", gateway=None, reservations="0" * 16, ext_reservations=None)
        networks = {LAN.uuid: local, WAN.uuid: replace(local, uuid=WAN.uuid, name="wan")}
        instances = {INSTANCE.uuid: replace(INSTANCE, nics=())}
        self.stage = self.make_stage(replace(CONNECTED, instances=instances, networks=networks))
        self.run_op(connecting(network_link="br0"))
        self.assertEqual(set(self.connections()), {LAN.uuid, WAN.uuid})

    def test_disconnect(self) -> None:
        """What an instance of the group uses stays; what none uses goes; what is not there is warned of."""
        refused = asking("OP_NETWORK_DISCONNECT", group_name="default", network_name="lan")
        self.bad(refused, ECode.STATE, "Conflicting IP addresses found")
        self.assertIn("which is about to disconnect from node group 'default'", self.stage.feedback[0])
        self.run_op(connecting(conflicts_check=False))
        self.run_op(asking("OP_NETWORK_DISCONNECT", group_name="default", network_name="wan"))
        self.assertEqual(set(self.connections()), {LAN.uuid})
        self.run_op(asking("OP_NETWORK_DISCONNECT", group_name="default", network_name="wan"))
        self.assertEqual(self.stage.feedback[-1], "- WARNING: Network 'wan' is not mapped to group 'default'")

    def hooked(self, op: OpCode) -> tuple[dict[str, object], list[str]]:
        """What its hooks are told, and the group's nodes on which they run."""
        unit = UNITS[type(op)](op, self.stage.context())
        do = self.successResultOf
        do(Deferred.fromCoroutine(unit.expand_names()))
        do(Deferred.fromCoroutine(unit.check()))
        nodes = do(Deferred.fromCoroutine(unit.object_nodes()))
        assert unit.hook is not None
        self.assertEqual((unit.hook.pre, unit.hook.post), (HookNodes.OBJECT, HookNodes.OBJECT))
        return dict(do(Deferred.fromCoroutine(unit.hook_values()))), [node.name for node in nodes]

    def test_hooks(self) -> None:
        """They run on the nodes of the group, and are told of the connection, if there is one."""
        nodes = ["node1.example.com", "node2.example.com"]
        told = {
            "GROUP_NAME": "default",
            "GROUP_NETWORK_MODE": "bridged",
            "GROUP_NETWORK_LINK": "br1",
            "GROUP_NETWORK_VLAN": "",
        }
        op = connecting(conflicts_check=False)
        self.assertEqual(self.hooked(op), (told, nodes))
        leaving = asking("OP_NETWORK_DISCONNECT", group_name="default", network_name="wan")
        self.assertEqual(self.hooked(leaving), ({"GROUP_NAME": "default"}, nodes))
        self.run_op(op)
        self.assertEqual(self.hooked(leaving), (told, nodes))

    def test_bad(self) -> None:
        """Unknown names, and links that cannot be."""
        for given, code, text in (
            ({"name": "nosuch"}, ECode.NOENT, "nosuch"),
            ({"group_name": "nosuch"}, ECode.NOENT, "nosuch"),
            ({"network_mode": "pool"}, ECode.INVAL, "allowed are bridged, openvswitch, routed"),
            ({"network_vlan": "5000"}, ECode.INVAL, "vlan '5000'"),
        ):
            self.bad(connecting(**given), code, text)
        for names in (("default", "nosuch"), ("nosuch", "lan")):
            op = asking("OP_NETWORK_DISCONNECT", group_name=names[0], network_name=names[1])
            self.bad(op, ECode.NOENT, "nosuch")


class RenameTests(NetworkCase):
    """OP_NETWORK_RENAME."""

    def test_renamed(self) -> None:
        """Whoever is in it stays in it; the name may change its letters' case."""
        self.assertEqual(self.run_op(asking("OP_NETWORK_RENAME", network_name="lan", new_name="net")), "net")
        self.assertEqual(self.network("net"), replace(LAN, name="net", serial_no=2, mtime=self.network("net").mtime))
        self.assertEqual(self.run_op(asking("OP_NETWORK_RENAME", network_name="net", new_name="Net")), "Net")

    def test_communication(self) -> None:
        """The cluster goes on knowing the network by which instances talk to their nodes."""
        cluster = replace(self.initial.cluster, instance_communication_network="lan")
        self.stage = self.make_stage(replace(self.initial, cluster=cluster))
        self.run_op(asking("OP_NETWORK_RENAME", network_name="wan", new_name="other"))
        self.assertEqual(self.stage.snapshot.cluster.instance_communication_network, "lan")
        self.run_op(asking("OP_NETWORK_RENAME", network_name="lan", new_name="net"))
        self.assertEqual(self.stage.snapshot.cluster.instance_communication_network, "net")

    def test_bad(self) -> None:
        """A name that another network has, a network that is not there."""
        for names, code, text in (
            (("lan", "WAN"), ECode.EXISTS, "Desired network name 'WAN' already exists"),
            (("nosuch", "net"), ECode.NOENT, "nosuch"),
        ):
            self.bad(asking("OP_NETWORK_RENAME", network_name=names[0], new_name=names[1]), code, text)


class RemoveTests(NetworkCase):
    """OP_NETWORK_REMOVE."""

    def test_removed(self) -> None:
        """What nobody has goes."""
        self.run_op(asking("OP_NETWORK_REMOVE", network_name="wan"))
        self.assertEqual(set(self.stage.snapshot.networks), {LAN.uuid})
        self.assertEqual(self.stage.locked, {"cluster/BGL": "shared", "network/wan-uuid": "exclusive"})

    def test_bad(self) -> None:
        """What is connected stays."""
        self.bad(asking("OP_NETWORK_REMOVE", network_name="lan"), ECode.STATE, "Network still connected")
        self.assertIn("connected to the following node groups: default", self.stage.feedback[0])
        self.bad(asking("OP_NETWORK_REMOVE", network_name="nosuch"), ECode.NOENT, "nosuch")
