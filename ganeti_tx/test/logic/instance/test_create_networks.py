"""Tests of new instances in networks."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpExecError
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_communication import communication_nic
from ganeti_tx.model.opcodes.types import NicKey
from ganeti_tx.rpc.calls.instance import InstanceOsAdd, InstanceStart
from ganeti_tx.rpc.calls.node import BridgesExist
from ganeti_tx.test.logic.instance.test_create import create
from ganeti_tx.test.logic.network.test_networks import CONNECTED, LAN, NetworkCase, connecting

NEW = "web2.example.com"


def in_lan(**more: str) -> dict[NicKey, str]:
    """One interface in lan."""
    return {NicKey.NETWORK: "lan", **{NicKey(name): value for name, value in more.items()}}


class CreateTests(NetworkCase):
    """OP_INSTANCE_CREATE with networks."""

    initial = replace(CONNECTED, networks={**CONNECTED.networks, LAN.uuid: replace(LAN, mac_prefix="aa:00:55")})

    def made(self, **changes: Any) -> Instance:
        """The new instance."""
        self.run_op(create(**changes))
        return next(each for each in self.stage.snapshot.instances.values() if each.name == NEW)

    def test_whole(self) -> None:
        """From the pool, by address, and without one; the link is the network's, and nodes are told of it."""
        made = self.made(nics=(in_lan(ip="pool"), in_lan(ip="198.51.100.3", name="second"), in_lan(ip="none")))
        self.assertEqual([nic.ip for nic in made.nics], ["198.51.100.4", "198.51.100.3", None])
        self.assertEqual({nic.network for nic in made.nics}, {LAN.uuid})
        self.assertEqual({nic.mac[:8] for nic in made.nics}, {"aa:00:55"})
        self.assertEqual(made.nics[0].nicparams, {"mode": "bridged", "link": "br0", "vlan": ""})
        self.assertEqual(self.network().reservations, "0011100000000000")
        self.assertEqual(self.network().serial_no, LAN.serial_no)
        self.assertEqual(self.nodes.of_kind(BridgesExist)[0].bridges, ["br0"])
        inherits = "- INFO: NIC/{} inherits netparams ['br0', 'bridged', '']"
        said = [line for line in self.stage.feedback if "NIC/" in line or "IP" in line]
        self.assertEqual(
            said, [*(inherits.format(n) for n in range(3)), "- INFO: Chose IP 198.51.100.4 from network lan"]
        )
        self.assertEqual(self.stage.locked["network/lan-uuid"], "shared")
        spec = self.nodes.of_kind(InstanceStart)[0].instance.nics[0]
        self.assertEqual((spec.link, spec.netinfo["name"], spec.netinfo["network"]), ("br0", "lan", LAN.network))

    def test_communication(self) -> None:
        """One more NIC, the last one, is in the cluster's network for this and has an address of its pool."""
        cluster = replace(self.initial.cluster, instance_communication_network="lan")
        groups = {
            uuid: replace(group, networks={LAN.uuid: {"mode": "routed", "link": "rt", "vlan": ""}})
            for uuid, group in self.initial.nodegroups.items()
        }
        self.stage = self.make_stage(replace(self.initial, cluster=cluster, nodegroups=groups))
        made = self.made(nics=({NicKey.LINK: "br7"},), instance_communication=True)
        self.assertEqual([nic.name for nic in made.nics], [None, f"ganeti:communication:{NEW}"])
        self.assertEqual((made.nics[1].network, made.nics[1].ip), (LAN.uuid, "198.51.100.3"))
        self.assertEqual(self.stage.nodes.of_kind(BridgesExist)[0].bridges, ["br7"])  # it is plugged into nothing
        told = self.stage.nodes.of_kind(InstanceStart)[0].instance
        self.assertEqual([nic.communication for nic in told.nics], [False, True])
        self.assertEqual(communication_nic(told), told.nics[1])

    def test_given_back(self) -> None:
        """What could not be made has no address in the end."""
        self.nodes.fail(InstanceOsAdd, "no")
        self.refused(create(nics=(in_lan(ip="pool"),)), OpExecError)
        self.assertEqual(self.network().reservations, LAN.reservations)

    def test_kept_for_others(self) -> None:
        """An address that is reserved for others is given only when conflicts are not looked for."""
        self.bad(create(nics=(in_lan(ip="198.51.100.5"),)), ECode.NOTUNIQUE, "reserved for others")
        ends = create(nics=(in_lan(ip="198.51.100.15"),), conflicts_check=False)
        self.bad(ends, ECode.NOTUNIQUE, "no host can have 198.51.100.15")
        self.made(nics=(in_lan(ip="198.51.100.5"),), conflicts_check=False)
        self.assertEqual(self.network().reservations, "0010010000000000")

    def test_stranger(self) -> None:
        """So is an address of a network of the group without the network."""
        nics = ({NicKey.IP: "198.51.100.9"},)
        self.bad(create(nics=nics), ECode.STATE, "(198.51.100.9) belongs to network lan, but the target NIC does not")
        made = self.made(nics=nics, conflicts_check=False)
        self.assertEqual((made.nics[0].ip, made.nics[0].network), ("198.51.100.9", None))
        self.assertEqual(self.network().reservations, LAN.reservations)

    def test_bad(self) -> None:
        """What is taken, outside, not connected, contradicts the network."""
        pool = "network lan has no free address"
        for nics, code, text in (
            ((in_lan(ip="198.51.100.2"),), ECode.NOTUNIQUE, "198.51.100.2 already in use or does not belong"),
            ((in_lan(ip="10.9.0.1"),), ECode.NOTUNIQUE, "does not belong to network lan"),
            ((in_lan(ip="2001:db8::1"),), ECode.NOTUNIQUE, "does not belong to network lan"),
            ((in_lan(ip="198.51.100.3"), in_lan(ip="198.51.100.3")), ECode.NOTUNIQUE, "is given twice"),
            ((in_lan(network="wan"),), ECode.STATE, "network wan is not connected to node group default"),
            ((in_lan(network="nosuch"),), ECode.NOENT, "nosuch"),
            ((in_lan(link="br1"),), ECode.INVAL, "link is not allowed"),
            ((in_lan(mode="bridged", vlan="5"),), ECode.INVAL, "mode, vlan is not allowed"),
        ):
            self.bad(create(nics=nics), code, text)
        for name in ("fill1", "fill2"):
            five = tuple(in_lan(ip="pool") for _ in range(5))
            self.run_op(create(instance_name=name, name_check=False, ip_check=False, nics=five))
        self.bad(create(nics=(in_lan(ip="pool"), in_lan(ip="pool"))), ECode.NORES, pool)

    def test_routed(self) -> None:
        """A routed network wants an address of each."""
        self.run_op(connecting(conflicts_check=False, network_mode="routed", network_link="100"))
        self.bad(create(nics=(in_lan(network="wan"),)), ECode.INVAL, "is routed, so a NIC in it needs an ip")
        made = self.made(nics=(in_lan(network="wan", ip="pool"),))
        self.assertEqual((made.nics[0].nicparams["mode"], made.nics[0].ip), ("routed", "198.51.100.2"))
