"""Tests of adding nodes."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpNodeAdd
from ganeti_tx.model.versions import NODE_PROTOCOL_VERSION
from ganeti_tx.rpc.calls.node import NodeCryptoTokens, NodeHasIpAddress, NodeSshKeys, SshKeys, Version
from ganeti_tx.rpc.calls.open_vswitch import CanConfigureOvs, NodeConfigureOvs
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.test.logic.stage import ADDRESSES, CLUSTER, CONFIG, RACK2, TWO_GROUPS, UnitTestCase
from ganeti_tx.test.model.samples import NODE2

BIG_POOL = replace(CONFIG, cluster=replace(CONFIG.cluster, candidate_pool_size=3))
NEW = "web2.example.com"  # a name that the stage's resolver knows


def add(**changes: Any) -> OpNodeAdd:
    """A request that is fine, with some changes."""
    return OpNodeAdd(**{"node_name": NEW, **changes})


class AddCase(UnitTestCase):
    """A node that can be added."""

    def setUp(self) -> None:
        super().setUp()
        self.well()

    def well(self) -> None:
        """The new node's daemon answers as it must."""
        self.nodes.answer(Version, NODE_PROTOCOL_VERSION)
        self.nodes.answer(NodeCryptoTokens, [("ssl", "digest")])
        self.nodes.answer(NodeSshKeys, SshKeys(host=[]))

    def node(self, name: str = NEW) -> Node:
        """A node as it is in the configuration."""
        (found,) = (node for node in self.stage.snapshot.nodes.values() if node.name == name)
        return found


class AddTests(AddCase):
    """OP_NODE_ADD."""

    def test_regular(self) -> None:
        """With the pool of candidates full it is a regular node, in the default group, under its resolved address."""
        self.run_op(add())
        node = self.node()
        self.assertEqual((node.primary_ip, node.secondary_ip), (ADDRESSES[NEW][1], ADDRESSES[NEW][1]))
        self.assertFalse(node.master_candidate)
        self.assertIn(node.uuid, self.stage.snapshot.nodegroups[node.group].members)
        self.assertEqual(self.stage.locked["cluster/BGL"], "exclusive")

    def test_default_group(self) -> None:
        """The default group is the cluster's, whatever it is called."""
        cluster = replace(CLUSTER, default_group=RACK2.uuid)
        self.stage = self.make_stage(replace(TWO_GROUPS, cluster=cluster))
        self.nodes = self.stage.nodes
        self.well()
        self.run_op(add())
        self.assertEqual(self.node().group, RACK2.uuid)

    def test_candidate(self) -> None:
        """While the pool has room it becomes a candidate, and its certificate may make calls."""
        self.stage = self.make_stage(BIG_POOL)
        self.nodes = self.stage.nodes
        self.well()
        self.run_op(add())
        self.assertTrue(self.node().master_candidate)
        self.assertEqual(self.stage.snapshot.cluster.candidate_certs, {self.node().uuid: "digest"})

    def test_certificate(self) -> None:
        """Whatever it becomes, it is known from now on by the certificate that it shows."""
        self.nodes.answer(NodeCryptoTokens, [("ssl", "digest"), ("server", "other")])
        self.run_op(add())
        self.assertEqual(self.stage.snapshot.cluster.candidate_certs, {f"server:{self.node().uuid}": "other"})

    def ssh_keys(self) -> dict[str, str]:
        """What the configuration keeps of the new node's SSH, by kind."""
        uuid = self.node().uuid
        known = self.stage.snapshot.cluster.candidate_certs
        return {key.removesuffix(f":{uuid}"): value for key, value in known.items() if key.startswith("ssh-")}

    def test_ssh_keys(self) -> None:
        """Its keys are known from then on; root's is made as the cluster's are. What is no key is not kept."""
        asked: list[NodeSshKeys] = []

        def tell(name: str, call: NodeSshKeys) -> SshKeys:
            asked.append(call)
            return SshKeys(host=["ssh-rsa AAAA", "command=x ssh-rsa AAAA", "ssh-ed25519 BBBB"], root="ssh-rsa CCCC")

        self.nodes.answers[NodeSshKeys] = tell
        self.run_op(add(node_setup=True))
        self.assertEqual(self.ssh_keys(), {"ssh-host": "ssh-rsa AAAA\nssh-ed25519 BBBB", "ssh-root": "ssh-rsa CCCC"})
        cluster = self.stage.snapshot.cluster
        self.assertEqual(
            [(call.root_type, call.root_bits) for call in asked], [(cluster.ssh_key_type, cluster.ssh_key_bits)]
        )

    def test_no_ssh_set_up(self) -> None:
        """Without set-up of the node, or of any, root's keys are not asked for."""
        asked: list[str | None] = []

        def tell(name: str, call: NodeSshKeys) -> SshKeys:
            asked.append(call.root_type)
            return SshKeys(host=["ssh-rsa AAAA"])

        self.nodes.answers[NodeSshKeys] = tell
        self.run_op(add())
        self.assertEqual(self.ssh_keys(), {"ssh-host": "ssh-rsa AAAA"})
        self.stage = self.make_stage(replace(CONFIG, cluster=replace(CONFIG.cluster, modify_ssh_setup=False)))
        self.nodes = self.stage.nodes
        self.well()
        self.nodes.answers[NodeSshKeys] = tell
        self.run_op(add(node_setup=True))
        self.assertEqual(asked, [None, None])

    def test_ssh_keys_unknown(self) -> None:
        """A node that does not tell them is added all the same, and one that cannot make root's says why."""
        self.nodes.fail(NodeSshKeys, "no such call", NodeUnreachableError)
        self.run_op(add(node_setup=True))
        self.assertIn("SSH keys", "".join(self.stage.feedback))
        self.assertEqual(self.ssh_keys(), {})

    def test_not_capable(self) -> None:
        """A node that cannot be master is no candidate, whatever room there is."""
        self.stage = self.make_stage(BIG_POOL)
        self.nodes = self.stage.nodes
        self.well()
        self.run_op(add(master_capable=False))
        self.assertFalse(self.node().master_candidate)

    def test_readd(self) -> None:
        """A node that comes back keeps its uuid, instances and settings, is online again and has its new certificate."""
        state = {"hv_state_static": {"kvm": {"mem_total": 5}}, "ndparams": {"spindle_count": 4}}
        lost = replace(CONFIG.nodes["node1-uuid"], offline=True, master_candidate=False, **state)
        self.stage = self.make_stage(
            replace(
                CONFIG,
                nodes={**CONFIG.nodes, lost.uuid: lost},
                cluster=replace(CONFIG.cluster, master_node=NODE2.uuid, candidate_pool_size=1),
            )
        )
        self.nodes = self.stage.nodes
        self.well()
        ADDRESSES[lost.name] = (lost.name, lost.primary_ip)
        self.addCleanup(ADDRESSES.pop, lost.name)
        self.run_op(add(node_name=lost.name, readd=True, hv_state={"kvm": {"mem_node": 1}}))
        back = self.node(lost.name)
        self.assertEqual(back.ndparams, lost.ndparams)
        self.assertEqual(back.hv_state_static, {"kvm": {"mem_total": 5, "mem_node": 1}})
        self.assertEqual((back.uuid, back.offline, back.drained), (lost.uuid, False, False))
        self.assertEqual(back.serial_no, lost.serial_no + 1)
        self.assertEqual([each.primary_node for each in self.stage.snapshot.instances.values()], [lost.uuid])

    def test_another_address(self) -> None:
        """A node without a secondary address of its own may come back with another address."""
        lost = replace(CONFIG.nodes["node1-uuid"], offline=True, master_candidate=False)
        self.stage = self.make_stage(
            replace(
                CONFIG,
                nodes={**CONFIG.nodes, lost.uuid: lost},
                cluster=replace(CONFIG.cluster, master_node=NODE2.uuid, candidate_pool_size=1),
            )
        )
        self.nodes = self.stage.nodes
        self.well()
        ADDRESSES[lost.name] = (lost.name, "192.0.2.44")
        self.addCleanup(ADDRESSES.pop, lost.name)
        self.run_op(add(node_name=lost.name, readd=True))
        back = self.node(lost.name)
        self.assertEqual((back.primary_ip, back.secondary_ip), ("192.0.2.44", "192.0.2.44"))

    def test_the_master(self) -> None:
        """The master is not set up anew: other nodes would not know its new certificate."""
        master = CONFIG.nodes[CONFIG.cluster.master_node]
        ADDRESSES[master.name] = (master.name, master.primary_ip)
        self.addCleanup(ADDRESSES.pop, master.name)
        self.assertIn("is the master", self.refused(add(node_name=master.name, readd=True), OpPrereqError))

    def test_refusals(self) -> None:
        """Known and unknown names, taken addresses, a daemon of another version or that does not answer."""
        self.assertIn("ghost", self.refused(add(node_name="ghost"), OpPrereqError))
        self.assertIn("not in the cluster", self.refused(add(readd=True), OpPrereqError))
        self.assertIn("192.0.2.11", self.refused(add(primary_ip="192.0.2.11"), OpPrereqError))
        self.assertIn("colour", str(self.failureResultOf(self.stage.run(add(ndparams={"colour": 1}))).value))
        self.nodes.answer(Version, 1)
        self.assertIn("version 1", self.refused(add(), OpPrereqError))
        self.nodes.fail(Version, "no route", NodeUnreachableError)
        self.assertIn("no route", self.refused(add(), OpPrereqError))
        self.assertEqual(set(self.stage.snapshot.nodes), set(CONFIG.nodes))

    def test_dry_run(self) -> None:
        """Before the node is set up all is checked but its daemon, which is not there yet; nothing is changed."""
        self.nodes.fail(Version, "no route", NodeUnreachableError)
        self.run_op(add(dry_run=True))
        self.assertEqual(set(self.stage.snapshot.nodes), set(CONFIG.nodes))
        for wrong, why in (
            ({"group": "ghost"}, "ghost"),
            ({"secondary_ip": "198.51.100.9"}, "must be alike"),
            ({"secondary_ip": "web"}, "no IP address"),
            ({"secondary_ip": "2001:db8::9"}, "secondary addresses are IPv4"),
            ({"primary_ip": "2001:db8::9"}, "primary addresses of this cluster are IPv4"),
            ({"primary_ip": CONFIG.cluster.master_ip}, "belongs to the cluster"),
            ({"readd": True}, "not in the cluster"),
            ({"ndparams": {"colour": 1}}, "colour"),
            ({"hv_state": {"nosuch": {"x": 1}}}, "Invalid hypervisor(s) in hypervisor state: nosuch"),
            ({"disk_state": {"file": {"x": 1}}}, "Invalid storage type(s) in disk state: file"),
        ):
            failure = self.failureResultOf(self.stage.run(add(dry_run=True, **wrong)))
            self.assertIn(why, str(failure.value))


class Version6Tests(UnitTestCase):
    """In a cluster whose primary addresses are IPv6."""

    def setUp(self) -> None:
        """Two nodes, with IPv4 secondary addresses."""
        super().setUp()
        nodes = {
            uuid: replace(node, primary_ip=f"2001:db8::{index}", secondary_ip=f"198.51.100.{index}")
            for index, (uuid, node) in enumerate(CONFIG.nodes.items(), 11)
        }
        cluster = replace(CLUSTER, primary_ip_family=10, master_ip="2001:db8::fe")
        self.stage = self.make_stage(replace(CONFIG, cluster=cluster, nodes=nodes))
        self.nodes = self.stage.nodes
        self.nodes.answer(Version, NODE_PROTOCOL_VERSION)
        self.nodes.answer(NodeHasIpAddress, True)
        self.nodes.answer(NodeCryptoTokens, [("ssl", "digest")])
        self.nodes.answer(NodeSshKeys, SshKeys(host=[]))

    def test_added(self) -> None:
        """Its primary address is IPv6, in one form, and its secondary one IPv4."""
        self.run_op(add(primary_ip="2001:DB8:0:0::19", secondary_ip="198.51.100.19"))
        (node,) = (node for node in self.stage.snapshot.nodes.values() if node.name == NEW)
        self.assertEqual((node.primary_ip, node.secondary_ip), ("2001:db8::19", "198.51.100.19"))

    def test_refused(self) -> None:
        """Other kinds are not taken, and neither is an address that a node has, however it is written."""
        for given, why in (
            ({}, "needs an IPv4 secondary address of each node (--secondary-ip)"),
            ({"secondary_ip": "2001:db8::20"}, "secondary address 2001:db8::20 is an IPv6 address"),
            ({"primary_ip": "192.0.2.19", "secondary_ip": "198.51.100.19"}, "primary address 192.0.2.19 is an IPv4"),
            ({"primary_ip": "fe80::19", "secondary_ip": "198.51.100.19"}, "fe80::19 is a link-local address"),
            ({"primary_ip": "2001:DB8:0::11", "secondary_ip": "198.51.100.19"}, "2001:db8::11 belongs to node"),
        ):
            changes = {"primary_ip": "2001:db8::19", **given}
            self.assertIn(why, self.refused(add(**changes), OpPrereqError))


class SwitchTests(AddCase):
    """Nodes that get a switch."""

    def well(self) -> None:
        """The node can have one."""
        super().well()
        self.nodes.succeed(CanConfigureOvs, NodeConfigureOvs)

    def test_asked_for(self) -> None:
        """The node is asked first, and has it last; what a parameter does not say is as it is everywhere."""
        self.run_op(add(ndparams={"ovs": "yes", "ovs_link": "eth1"}))
        (asked,), (made,) = self.nodes.of_kind(CanConfigureOvs), self.nodes.of_kind(NodeConfigureOvs)
        self.assertEqual({(each.ovs_name, each.ovs_link) for each in (asked, made)}, {("switch1", "eth1")})
        self.assertEqual(self.nodes.kinds()[-1], NodeConfigureOvs.name)

    def test_wider(self) -> None:
        """The cluster's parameters count as well; without any nobody is asked."""
        self.run_op(add())
        self.assertEqual(self.nodes.of_kind(CanConfigureOvs), [])
        cluster = replace(CLUSTER, ndparams={"ovs": True, "ovs_name": "sw7"})
        self.stage = self.make_stage(replace(CONFIG, cluster=cluster))
        self.nodes = self.stage.nodes
        self.well()
        self.run_op(add())
        self.assertEqual([call.ovs_name for call in self.nodes.of_kind(NodeConfigureOvs)], ["sw7"])

    def test_refused(self) -> None:
        """A node that could not have it is not added; one that did not get it is, and what to do is said."""
        self.nodes.fail(CanConfigureOvs, "install openvswitch-switch")
        self.assertIn("install openvswitch-switch", self.refused(add(ndparams={"ovs": True}), OpPrereqError))
        self.nodes.succeed(CanConfigureOvs)
        self.nodes.fail(NodeConfigureOvs, "no room")
        failure = self.failureResultOf(self.stage.run(add(ndparams={"ovs": True})), OpExecError)
        self.assertIn("no room; when that is mended, 'gnt-node add --readd", str(failure.value))
        self.assertEqual(self.node().ndparams, {"ovs": True})
