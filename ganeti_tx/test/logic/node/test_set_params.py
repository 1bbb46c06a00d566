"""Tests of changing nodes."""

from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.jobs import lock_taking
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.locking.levels import Mode
from ganeti_tx.logic.node.roles import FLAGS, lacking
from ganeti_tx.logic.wanted_locks import on_nodes
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpNodeSetParams
from ganeti_tx.model.versions import NODE_PROTOCOL_VERSION
from ganeti_tx.rpc.calls.node import NodeCryptoTokens, NodeDemoteFromMc, NodeHasIpAddress, Version
from ganeti_tx.rpc.calls.open_vswitch import CanConfigureOvs, NodeConfigureOvs
from ganeti_tx.rpc.calls.queue import JobqueuePurge
from ganeti_tx.rpc.interfaces import NodeCallError, NodeUnreachableError
from ganeti_tx.test.logic.stage import CONFIG, UnitTestCase
from ganeti_tx.test.model.samples import NODE2


def member(number: int, **flags: bool) -> Node:
    """One more node of the cluster."""
    return replace(
        NODE2,
        uuid=f"node{number}-uuid",
        name=f"node{number}.example.com",
        primary_ip=f"192.0.2.1{number}",
        secondary_ip=f"192.0.2.1{number}",
        **{"master_candidate": False, **flags},
    )


def cluster_of(*more: Node, pool: int = 2) -> ConfigData:
    """The stage's cluster with more nodes."""
    nodes = {**CONFIG.nodes, **{node.uuid: node for node in more}}
    (group,) = CONFIG.nodegroups.values()
    certs = {uuid: f"digest-of-{node.name}" for uuid, node in nodes.items() if node.master_candidate}
    return replace(
        CONFIG,
        cluster=replace(CONFIG.cluster, candidate_pool_size=pool, candidate_certs=certs),
        nodes=nodes,
        nodegroups={group.uuid: replace(group, members=tuple(nodes))},
    )


def modify(number: int = 2, **changes: Any) -> OpNodeSetParams:
    """A request."""
    return OpNodeSetParams(node_name=f"node{number}", **changes)


class SetParamsCase(UnitTestCase):
    """Three nodes, of which the first is the master, the second a candidate and the third regular; the pool is full."""

    initial = cluster_of(member(3))

    def setUp(self) -> None:
        super().setUp()
        self.well()

    def well(self) -> None:
        """All nodes answer as they must."""
        self.nodes.answers[NodeCryptoTokens] = lambda node, call: [("ssl", f"digest-of-{node}")]
        self.nodes.answer(Version, NODE_PROTOCOL_VERSION)
        self.nodes.answer(NodeHasIpAddress, True)

    def set_stage(self, config: ConfigData) -> None:
        """Another cluster."""
        self.stage = self.make_stage(config)
        self.nodes = self.stage.nodes
        self.well()

    def roles(self) -> str:
        """The roles of the nodes in order, a letter each."""
        letters = {"master_candidate": "C", "drained": "D", "offline": "O"}
        nodes = sorted(self.stage.snapshot.nodes.values(), key=lambda node: node.name)
        return " ".join("".join(letters[flag] for flag in FLAGS if getattr(node, flag)) or "R" for node in nodes)

    def check_certificates(self) -> None:
        """Exactly the candidates may make node calls."""
        config = self.stage.snapshot
        wanted = {uuid: f"digest-of-{node.name}" for uuid, node in config.nodes.items() if node.master_candidate}
        self.assertEqual(dict(config.cluster.candidate_certs), wanted)


class RoleTests(SetParamsCase):
    """OP_NODE_SET_PARAMS and the flags."""

    def test_offline(self) -> None:
        """An offline node is no candidate any more, another takes its place in the same job, and nothing is sent to it."""
        result = self.run_op(modify(offline=True, auto_promote=True))
        self.assertEqual(self.roles(), "C O C")
        self.assertEqual(result, [("master_candidate", "False"), ("offline", "True")])
        self.assertIn("Promoted nodes to master candidate role: node3.example.com", self.stage.feedback)
        self.assertNotIn("node2.example.com", [name for name, _ in self.nodes.sent])
        self.check_certificates()

    def test_pool_is_kept(self) -> None:
        """Without leave to promote another, a candidate stays one as long as it is needed and could be replaced."""
        for change in ({"offline": True}, {"drained": True}, {"master_candidate": False}, {"master_capable": False}):
            self.assertIn("--auto-promote", self.refused(modify(**change), OpPrereqError))
        self.assertEqual(self.roles(), "C C R")

    def test_refuses_to_answer(self) -> None:
        """A node that does not take the master for one goes offline, too; it runs no hooks."""
        self.nodes.fail(Version, "node2 does not know the caller", NodeCallError)
        self.run_op(modify(offline=True, auto_promote=True))
        self.assertEqual(self.roles(), "C O C")

    def test_nobody_to_promote(self) -> None:
        """When no other node could be promoted, the pool shrinks."""
        self.set_stage(cluster_of(member(3, drained=True)))
        self.run_op(modify(offline=True))
        self.assertEqual(self.roles(), "C O D")

    def test_demoted(self) -> None:
        """A node that is no candidate any more removes the configuration and the queue, after everybody knows."""
        self.run_op(modify(master_candidate=False, auto_promote=True))
        self.assertEqual(self.roles(), "C R C")
        sent = [type(call) for name, call in self.nodes.sent if name == "node2.example.com"]
        self.assertEqual(sent, [NodeDemoteFromMc, JobqueuePurge])
        self.check_certificates()

    def test_demoted_and_silent(self) -> None:
        """One that does not answer is demoted all the same, with a warning."""
        self.nodes.fail(NodeDemoteFromMc, "no route", NodeUnreachableError)
        self.run_op(modify(drained=True, auto_promote=True))
        self.assertEqual(self.roles(), "C D C")
        self.assertIn("no route", self.stage.feedback[-1])

    def test_silent_node_is_not_promoted(self) -> None:
        """A node that does not answer cannot take another's place; the next one does."""
        self.set_stage(cluster_of(member(3), member(4)))

        def tokens(node: str, call: object) -> Any:
            if node == "node3.example.com":
                raise NodeUnreachableError(f"node {node}: no route")
            return [("ssl", f"digest-of-{node}")]

        self.nodes.answers[NodeCryptoTokens] = tokens
        self.run_op(modify(offline=True, auto_promote=True))
        self.assertEqual(self.roles(), "C O R C")
        self.check_certificates()

    def test_promoted(self) -> None:
        """A regular node becomes a candidate on demand, also beyond the pool's size."""
        self.assertEqual(self.run_op(modify(3, master_candidate=True)), [("master_candidate", "True")])
        self.assertEqual(self.roles(), "C C C")
        self.check_certificates()

    def test_back_online(self) -> None:
        """A node that comes back is a candidate again if the pool has room, and a regular node otherwise."""
        self.set_stage(cluster_of(member(3, offline=True), pool=3))
        result = self.run_op(modify(3, offline=False))
        self.assertEqual(result, [("master_candidate", "True"), ("offline", "False")])
        self.check_certificates()
        self.set_stage(cluster_of(member(3, offline=True)))
        self.assertEqual(self.run_op(modify(3, offline=False)), [("offline", "False")])
        sent = [type(call) for name, call in self.nodes.sent]
        self.assertEqual(sent, [Version, NodeDemoteFromMc, JobqueuePurge], "it may have been a candidate once")

    def test_back_but_silent(self) -> None:
        """A node that does not answer stays offline."""
        self.set_stage(cluster_of(member(3, offline=True)))
        self.nodes.fail(Version, "no route", NodeUnreachableError)
        self.assertIn("no route", self.refused(modify(3, offline=False), OpPrereqError))

    def test_master(self) -> None:
        """The master keeps its role."""
        for change in ({"offline": True}, {"drained": True}, {"master_candidate": False}, {"master_capable": False}):
            text = self.refused(modify(1, **change, auto_promote=True, force=True), OpPrereqError)
            self.assertIn("master-failover", text)

    def test_primary_instances(self) -> None:
        """A node with primary instances goes offline, as it may be dead, with a word about them; it stays vm_capable."""
        instance = replace(next(iter(CONFIG.instances.values())), primary_node="node2-uuid", disks=())
        self.set_stage(replace(cluster_of(), instances={instance.uuid: instance}, disks={}))
        self.assertIn("vm_capable", self.refused(modify(vm_capable=False), OpPrereqError))
        self.run_op(modify(offline=True))
        self.assertIn("is primary node of web1.example.com; 'gnt-instance failover -n", "".join(self.stage.feedback))
        self.assertEqual(self.roles(), "C O")

    def test_contradictions(self) -> None:
        """Two roles, no change at all, a candidate that cannot be one."""
        self.assertIn("one role", self.refused(modify(offline=True, drained=True), OpPrereqError))
        self.assertIn("nothing to change", self.refused(modify(), OpPrereqError))
        self.set_stage(cluster_of(member(3, master_capable=False), member(4, offline=True)))
        self.assertIn("not master_capable", self.refused(modify(3, master_candidate=True), OpPrereqError))
        self.assertIn("--offline=no", self.refused(modify(4, master_candidate=True), OpPrereqError))


class LockTests(SetParamsCase):
    """What OP_NODE_SET_PARAMS holds: the node, and those that are promoted in its place."""

    def setUp(self) -> None:
        super().setUp()
        self.set_stage(cluster_of(member(3), member(4)))

    def held(self) -> dict[str, str]:
        """The locks of nodes that the change had."""
        return {lock: mode for lock, mode in self.stage.locked.items() if lock.startswith("node/")}

    def while_waiting_for(self, number: int, *changed: Node) -> None:
        """Node 2 goes offline; nodes are changed while one is held by another job."""
        other = attrs.evolve(self.stage.locks, owner=Owner(2, "other"))
        self.successResultOf(Deferred.fromCoroutine(other.update(on_nodes([f"node{number}-uuid"], Mode.SHARED))))
        done = self.stage.run(modify(offline=True, auto_promote=True))
        self.assertNoResult(done)
        digests = {node.uuid: f"digest-of-{node.name}" for node in changed}
        self.successResultOf(Deferred.fromCoroutine(self.stage.config.change_nodes(changed, digests)))
        self.successResultOf(Deferred.fromCoroutine(other.release_all()))
        self.successResultOf(done)

    def test_others_at_work(self) -> None:
        """Nobody waits for a node that is not changed."""
        for change, nodes in (
            ({"drained": True, "auto_promote": True}, "23"),
            ({"offline": True, "auto_promote": True}, "23"),
            ({"vm_capable": True, "auto_promote": True}, "2"),
            ({"secondary_ip": "198.51.100.2", "force": True}, None),
        ):
            self.set_stage(cluster_of(member(3), member(4)))
            self.run_op(modify(**change))
            held = {"node/[lockset]"} if nodes is None else {f"node/node{number}-uuid" for number in nodes}
            self.assertEqual(self.held(), dict.fromkeys(held, "exclusive"))
        self.set_stage(cluster_of(member(3), pool=1))
        self.run_op(modify(offline=True))
        self.assertEqual(self.held(), {"node/node2-uuid": "exclusive"})

    def test_chosen_is_drained(self) -> None:
        """Whoever cannot be promoted any more when its lock is there is let go of, and the next one is promoted."""
        self.while_waiting_for(3, replace(self.stage.snapshot.nodes["node3-uuid"], drained=True))
        self.assertEqual(self.roles(), "C O D C")
        self.assertEqual(self.held(), dict.fromkeys(["node/node2-uuid", "node/node4-uuid"], "exclusive"))

    def test_becomes_candidate(self) -> None:
        """One that has become a candidate when its own lock is there is replaced by one whose lock is held."""
        self.set_stage(cluster_of(member(2), member(3), member(4, master_candidate=True)))
        nodes = self.stage.snapshot.nodes
        comes, goes = nodes["node2-uuid"], nodes["node4-uuid"]
        self.while_waiting_for(2, replace(comes, master_candidate=True), replace(goes, master_candidate=False))
        self.assertEqual(self.roles(), "C O C R")
        self.assertEqual(self.held(), dict.fromkeys(["node/node2-uuid", "node/node3-uuid"], "exclusive"))

    def test_ever_others(self) -> None:
        """Where each time others are to be promoted there is an end, and nothing is changed or held."""
        self.patch(lock_taking, "CHOICES", 1)
        self.nodes.fail(NodeCryptoTokens, "no route", NodeUnreachableError)
        text = self.refused(modify(offline=True, auto_promote=True), OpPrereqError)
        self.assertIn("became node4.example.com; so it was 1 times, try again", text)
        self.assertEqual(self.roles(), "C C R R")

    def asked(self) -> list[str]:
        """The nodes that were asked whether they can be promoted."""
        return [name for name, call in self.nodes.sent if isinstance(call, NodeCryptoTokens)]

    def test_many_silent(self) -> None:
        """Each silent node is asked once, and however many there are the change is made."""
        self.set_stage(cluster_of(*map(member, range(3, 23))))
        self.nodes.fail(NodeCryptoTokens, "no route", NodeUnreachableError)
        self.run_op(modify(offline=True, auto_promote=True))
        self.assertEqual(sorted(self.roles().split()), ["C", "O", *["R"] * 20])
        self.assertEqual(len(self.asked()), len(set(self.asked())), self.asked())

    def test_nobody_asked_for_nothing(self) -> None:
        """A request that is refused anyway, or still waits for a lock, asks no node."""
        self.refused(modify(1, offline=True, auto_promote=True), OpPrereqError)
        self.assertEqual(self.asked(), [])
        other = attrs.evolve(self.stage.locks, owner=Owner(2, "other"))
        self.successResultOf(Deferred.fromCoroutine(other.update(on_nodes(["node3-uuid"], Mode.SHARED))))
        done = self.stage.run(modify(offline=True, auto_promote=True))
        self.assertNoResult(done)
        self.assertEqual(self.asked(), [])
        self.successResultOf(Deferred.fromCoroutine(other.release_all()))
        self.successResultOf(done)
        self.assertEqual(self.asked(), ["node3.example.com"])


class SettingsTests(SetParamsCase):
    """OP_NODE_SET_PARAMS and all else."""

    def test_ndparams(self) -> None:
        """Parameters are set, and the word default takes one away."""
        self.assertEqual(self.run_op(modify(ndparams={"ssh_port": 23})), [("ndparams/ssh_port", 23)])
        self.assertEqual(self.run_op(modify(ndparams={"ssh_port": "default"})), [("ndparams/ssh_port", "default")])
        self.assertIn("nonsense", self.refused(modify(ndparams={"nonsense": 1}), Exception))

    def test_state(self) -> None:
        """What is said of resources goes by hypervisors and kinds of storage that there are."""
        self.run_op(modify(hv_state={"kvm": {"mem_total": 1}}))
        self.assertIn("state: nosuch", self.refused(modify(hv_state={"nosuch": {"x": 1}}), OpPrereqError))
        self.assertIn("state: file", self.refused(modify(disk_state={"file": {"x": 1}}), OpPrereqError))

    def test_secondary_ip(self) -> None:
        """An address that is the node's own and nobody else's, and fits the other nodes."""
        self.assertIn("force", self.refused(modify(secondary_ip="198.51.100.2"), OpPrereqError))
        self.assertIn("no IP address", self.refused(modify(secondary_ip="node2"), OpPrereqError))
        self.assertIn("IPv4 in every", self.refused(modify(secondary_ip="2001:db8::2", force=True), OpPrereqError))
        self.assertIn("node3", self.refused(modify(secondary_ip="192.0.2.13"), OpPrereqError))
        result = self.run_op(modify(secondary_ip="198.51.100.2", force=True))
        self.assertEqual(result, [("secondary_ip", "198.51.100.2")])
        self.nodes.answer(NodeHasIpAddress, False)
        self.assertIn("does not have", self.refused(modify(secondary_ip="198.51.100.3", force=True), OpPrereqError))

    def test_powered(self) -> None:
        """The power of a node is known where a program for it is set."""
        self.assertIn("oob_program", self.refused(modify(powered=False), OpPrereqError))
        self.run_op(modify(ndparams={"oob_program": "/bin/oob"}))
        self.assertIn("--offline=yes", self.refused(modify(powered=False), OpPrereqError))
        self.run_op(modify(powered=False, offline=True, auto_promote=True))
        self.assertFalse(self.stage.snapshot.nodes["node2-uuid"].powered)


REQUESTS = st.fixed_dictionaries(
    {"number": st.integers(1, 4)},
    optional={
        "master_candidate": st.booleans(),
        "drained": st.booleans(),
        "offline": st.booleans(),
        "master_capable": st.booleans(),
        "auto_promote": st.booleans(),
        "force": st.booleans(),
    },
)


class SwitchTests(SetParamsCase):
    """Nodes that are to have a switch of their own."""

    def test_asked_for(self) -> None:
        """It is made when a parameter says so, as often as it does; other changes make none, nor does one of an offline node."""
        self.nodes.succeed(CanConfigureOvs, NodeConfigureOvs)
        self.run_op(modify(ndparams={"ovs_name": "sw7"}))
        self.assertEqual(self.nodes.of_kind(NodeConfigureOvs), [])
        for _ in range(2):
            self.run_op(modify(ndparams={"ovs": True}))
        self.run_op(modify(ndparams={"spindle_count": 2}))
        self.assertEqual([call.ovs_name for call in self.nodes.of_kind(NodeConfigureOvs)], ["sw7", "sw7"])
        self.run_op(modify(ndparams={"ovs_link": "eth1"}, offline=True, auto_promote=True))
        self.assertEqual(len(self.nodes.of_kind(NodeConfigureOvs)), 2)

    def test_not_made(self) -> None:
        """What it lacks is said before anything is changed; if it comes to light later, with what to do."""
        self.nodes.fail(CanConfigureOvs, "install openvswitch-switch")
        self.assertIn("install openvswitch-switch", self.refused(modify(ndparams={"ovs": True}), OpPrereqError))
        self.nodes.succeed(CanConfigureOvs)
        self.nodes.fail(NodeConfigureOvs, "no room")
        failure = self.failureResultOf(self.stage.run(modify(ndparams={"ovs": True})), OpExecError)
        self.assertIn("was changed, but does not have its switch switch1", str(failure.value))


class WalkTests(SetParamsCase):
    """Any sequence of requests."""

    @settings(max_examples=60, deadline=None)
    @given(st.lists(REQUESTS, max_size=12))
    def test_invariants(self, requests: list[dict[str, Any]]) -> None:
        """One flag a node at most, the master stays, candidates may call, and the pool is as full as it can be."""
        self.set_stage(cluster_of(member(3), member(4)))
        demoted = set()
        for request in requests:
            done = self.stage.run(modify(**request)).addErrback(lambda failure: failure.trap(OpPrereqError))
            self.successResultOf(done)
            if request.get("master_candidate") is False:
                demoted.add(f"node{request['number']}-uuid")
            nodes = self.stage.snapshot.nodes
            self.assertTrue(all(sum(getattr(node, flag) for flag in FLAGS) <= 1 for node in nodes.values()))
            self.assertTrue(nodes["node1-uuid"].master_candidate)
            self.assertFalse([n for n in nodes.values() if n.master_candidate and not n.master_capable])
            self.check_certificates()
            others = [node for node in nodes.values() if node.uuid not in demoted]
            self.assertEqual(lacking(others, 2 - sum(nodes[uuid].master_candidate for uuid in demoted)), 0)
