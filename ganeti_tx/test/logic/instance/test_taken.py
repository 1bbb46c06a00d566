"""Names and addresses of nodes, of the cluster and of other instances, which no instance gets."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import ECode
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.network import Network
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.model.opcodes.instance import OpInstanceRename
from ganeti_tx.test.logic.instance.modify.scene import OTHER, WITH_ALL, modify
from ganeti_tx.test.logic.instance.test_create import create
from ganeti_tx.test.logic.network.test_networks import NetworkCase
from ganeti_tx.test.logic.stage import CONFIG, INSTANCE
from ganeti_tx.test.model.samples import NODE2

NEW = "web2.example.com"
MASTER, NODE1, INNER = "192.0.2.1", "192.0.2.11", "10.1.0.12"
HOSTS = {MASTER: "the cluster", NODE1: "node node1.example.com", INNER: "node node2.example.com"}
ROUTED = {"mode": "routed", "link": "100", "ip": "192.0.2.77"}
MESH = Network(serial_no=1, uuid="mesh-uuid", name="mesh", network="169.254.0.0/16")
#: Another one that an administrator has made.
LOCAL = replace(MESH, uuid="local-uuid", name="local", network="169.254.0.0/24")


def fresh(**params: Any) -> OpCode:
    """A new instance whose name nobody looks up."""
    return create(instance_name="new", name_check=False, ip_check=False, **params)


class TakenCase(NetworkCase):
    """web2 has a routed address; node2 has an address for what nodes say to each other."""

    initial = replace(
        WITH_ALL,
        nodes={
            uuid: replace(node, secondary_ip=INNER) if node.name.startswith("node2") else node
            for uuid, node in WITH_ALL.nodes.items()
        },
        instances={
            **WITH_ALL.instances,
            OTHER.uuid: replace(
                OTHER,
                nics=(
                    Nic(
                        uuid="r", mac="aa:00:00:00:00:04", nicparams={"mode": "routed", "link": "100"}, ip=ROUTED["ip"]
                    ),
                ),
            ),
        },
    )

    def both(self, **nic: str) -> list[OpCode]:
        """A new instance with a NIC, and one that gets it."""
        return [fresh(nics=(nic,)), modify(nics=[["modify", 0, nic]])]


class AddressTests(TakenCase):
    """Addresses of NICs."""

    def test_hosts(self) -> None:
        """Those of nodes and of the cluster are refused, however the NIC is connected."""
        for address, whose in HOSTS.items():
            for connected in ({}, {"mode": "routed", "link": "100"}):
                for op in self.both(ip=address, **connected):
                    self.bad(
                        op, ECode.NOTUNIQUE, f"IP {address} of a NIC is already in use by {whose}; --no-conflicts-check"
                    )

    def test_instances(self) -> None:
        """Of two routed NICs with one address and table only one would be reached."""
        for op in self.both(**ROUTED):
            self.bad(op, ECode.NOTUNIQUE, "192.0.2.77 of a NIC is already in use by instance web2.example.com")
        own = modify(name="web2.example.com", nics=[["modify", 0, {"name": "out"}]])
        for op in (own, *self.both(**{**ROUTED, "link": "101"}), *self.both(ip=ROUTED["ip"])):
            self.run_op(op)
            self.stage = self.make_stage(self.initial)

    def test_own(self) -> None:
        """Nor would both of one instance, whose address the first to go takes along."""
        other = {**ROUTED, "ip": "192.0.2.78"}
        says = f"{other['ip']} of a NIC is already in use by another NIC of the same instance"
        twice = [["add", -1, other], ["add", -1, other]]
        for op in (fresh(nics=(other, other)), modify(nics=twice)):
            self.bad(op, ECode.NOTUNIQUE, says)
        for op in (
            fresh(nics=(other, {**other, "link": "101"})),
            modify(nics=[["add", -1, other], ["remove", -1, {}]]),
        ):
            self.run_op(op)
            self.stage = self.make_stage(self.initial)
        self.run_op(modify(nics=twice, conflicts_check=False))

    def test_unasked(self) -> None:
        """An administrator may know better."""
        off: dict[str, Any] = {"conflicts_check": False}
        self.run_op(fresh(nics=({"ip": NODE1},), **off))
        self.run_op(modify(nics=[["modify", 0, ROUTED]], **off))

    def test_link_local(self) -> None:
        """Those by which instances are known to their nodes are refused even then, where the network is not theirs."""
        for check in (True, False):
            for address in ("169.254.0.1", "169.254.169.254", "fe80::1"):
                for nic in ({"ip": address}, {"ip": address, "mode": "routed", "link": ""}):
                    self.bad(
                        modify(nics=[["modify", 0, nic]], conflicts_check=check), ECode.INVAL, "talk to their nodes"
                    )
                    self.bad(fresh(nics=(nic,), conflicts_check=check), ECode.INVAL, address)

    def with_mesh(self, network: str) -> None:
        """Let the group have these, of which one is for instance communication."""
        networks = {**self.initial.networks, MESH.uuid: MESH, LOCAL.uuid: LOCAL}
        connected = {uuid: {"mode": "routed", "link": "rt", "vlan": ""} for uuid in networks}
        groups = {uuid: replace(group, networks=connected) for uuid, group in self.initial.nodegroups.items()}
        cluster = replace(self.initial.cluster, instance_communication_network=network)
        self.stage = self.make_stage(replace(self.initial, cluster=cluster, networks=networks, nodegroups=groups))

    def test_other_networks(self) -> None:
        """Not even another network gives such an address, by its name or from its pool; the one that is for it does."""
        self.with_mesh("mesh")
        for ip in ("169.254.0.9", "pool"):
            for op in self.both(network="local", ip=ip):
                self.bad(op, ECode.INVAL, "only NICs in the network for")
        self.run_op(fresh(nics=({"network": "mesh", "ip": "pool"},)))
        self.with_mesh("")
        self.run_op(fresh(nics=({"network": "local", "ip": "pool"},)))


class NameTests(TakenCase):
    """Names of instances."""

    def test_hosts(self) -> None:
        """None is called as a node or the cluster is, whatever the name resolves to; an administrator may know better."""
        config = replace(CONFIG, instances={INSTANCE.uuid: INSTANCE})
        called: list[tuple[ConfigData, str]] = [
            (replace(config, nodes={**CONFIG.nodes, NODE2.uuid: replace(NODE2, name="Web2.example.com")}), "a node"),
            (replace(config, cluster=replace(CONFIG.cluster, cluster_name="web2.example.com")), "the cluster"),
        ]
        unchecked: dict[str, Any] = {"name_check": False, "ip_check": False}
        for initial, whose in called:
            for op in (create(pnode="node1", instance_name=NEW), OpInstanceRename(instance_name="web1", new_name=NEW)):
                self.stage = self.make_stage(initial)
                self.bad(op, ECode.EXISTS, f"'{NEW}' is the name of {whose}; an instance needs one of its own")
                self.run_op(replace(op, **unchecked))


del TakenCase, NetworkCase
