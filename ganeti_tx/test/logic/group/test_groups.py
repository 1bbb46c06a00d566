"""Tests of the units about node groups."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model import opcodes as ops
from ganeti_tx.model.enums import AllocPolicy, DiskTemplate
from ganeti_tx.model.group_scopes import Kept
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.model.params.ipolicy import PartialPolicy
from ganeti_tx.test.logic.stage import GROUP, RACK2, TWO_GROUPS, UnitTestCase
from ganeti_tx.test.model.samples import DISK, INSTANCE, NETWORK, NIC, NODE2

SPEC = {"cpu-count": 1, "disk-count": 1, "disk-size": 1, "memory-size": 1, "nic-count": 0, "spindle-use": 1}
LARGE = dict.fromkeys(SPEC, 1 << 20)
MIRRORED = replace(
    TWO_GROUPS, instances={INSTANCE.uuid: replace(INSTANCE, disks=(DISK.uuid,))}, disks={DISK.uuid: DISK}
)


def bounds(low: dict[str, int], high: dict[str, int]) -> list[dict[str, dict[str, int]]]:
    """One pair of bounds of a policy."""
    return [{"min": {**SPEC, **low}, "max": {**LARGE, **high}}]


class GroupCase(UnitTestCase):
    """One group with two nodes, and one without nodes."""

    initial = TWO_GROUPS

    def group(self, name: str) -> NodeGroup:
        """One group as it is on disk."""
        return next(group for group in self.stage.snapshot.nodegroups.values() if group.name == name)

    def code(self, op: OpCode) -> str | None:
        """By which code an opcode is refused; nothing has changed then."""
        before = self.stage.snapshot
        error = self.failureResultOf(self.stage.run(op), OpPrereqError).value
        self.assertIs(self.stage.snapshot, before)
        assert isinstance(error, OpPrereqError)
        return error.ecode


class AddTests(GroupCase):
    """OP_GROUP_ADD."""

    def test_plain(self) -> None:
        """What is not given comes from the cluster; allocation may use the group."""
        self.assertIsNone(self.run_op(ops.OpGroupAdd(group_name="rack3")))
        group = self.group("rack3")
        self.assertEqual((group.alloc_policy, group.members, group.ndparams), (AllocPolicy.PREFERRED, (), {}))
        self.assertEqual((group.ipolicy, group.diskparams, group.networks), (PartialPolicy(), {}, {}))

    def test_settings(self) -> None:
        """Everything that can be given, in its type."""
        self.run_op(
            ops.OpGroupAdd(
                group_name="rack3",
                alloc_policy=AllocPolicy.LAST_RESORT,
                ndparams={"spindle_count": "2", "oob_program": "default"},
                diskparams={DiskTemplate.DRBD: {"metavg": "meta"}, DiskTemplate.PLAIN: {}},
                hv_state={"kvm": {"mem_total": 1}},
                disk_state={"plain": {"xenvg": 1}},
                ipolicy={
                    "vcpu-ratio": 2,
                    "disk-templates": ["file"],
                    "minmax": bounds({}, {}),
                    "spindle-ratio": "default",
                },
            )
        )
        group = self.group("rack3")
        self.assertEqual((group.alloc_policy, group.ndparams), (AllocPolicy.LAST_RESORT, {"spindle_count": 2}))
        self.assertEqual(group.diskparams, {DiskTemplate.DRBD: {"metavg": "meta"}})
        self.assertEqual(
            (group.hv_state_static, group.disk_state_static), ({"kvm": {"mem_total": 1}}, {"plain": {"xenvg": 1}})
        )
        self.assertEqual((group.ipolicy.vcpu_ratio, group.ipolicy.spindle_ratio), (2, None))
        self.assertEqual(group.ipolicy.disk_templates, (DiskTemplate.FILE,))

    def test_taken(self) -> None:
        """Names, in any case, and uuids are not taken twice; a name is one line of text."""
        for name in ("rack2", "RACK2", RACK2.uuid):
            self.assertEqual(self.code(ops.OpGroupAdd(group_name=name)), ECode.EXISTS)
        for name in ("a\nb", " a", "a" * 256, "\x1b[0m"):
            self.assertEqual(self.code(ops.OpGroupAdd(group_name=name)), ECode.INVAL)
            self.assertEqual(self.code(ops.OpGroupRename(group_name="rack2", new_name=name)), ECode.INVAL)
        self.run_op(ops.OpGroupAdd(group_name="bad/name of Gänge"))
        text = self.refused(ops.OpGroupAdd(group_name="rack2"), OpPrereqError)
        self.assertEqual(text, f"Desired group name 'rack2' already exists as a node group (UUID: {RACK2.uuid})")


#: Settings that cannot be, by the error and what it names.
BAD: list[tuple[dict[str, Any], str]] = [
    ({"ndparams": {"nosuch": 3}}, "nosuch"),
    ({"ndparams": {"spindle_count": "many"}}, "many"),
    ({"ndparams": {"spindle_count": -1}}, "ndparams.spindle_count: must be at least 0, got -1"),
    ({"ndparams": {"ssh_port": 0}}, "ndparams.ssh_port: must be a port from 1 to 65535, got 0"),
    ({"ndparams": {"ssh_port": "65536"}}, "got 65536"),
    ({"ndparams": {"cpu_speed": 0}}, "ndparams.cpu_speed: must be above 0, got 0"),
    ({"diskparams": {DiskTemplate.FILE: {"x": 1}}}, "diskparams.file.x"),
    ({"ipolicy": {"minmax": [{"min": {"disk-size": 1}, "max": LARGE}]}}, "minmax"),
    ({"ipolicy": {"minmax": bounds({"cpu-count": 9}, {"cpu-count": 8})}}, "cpu-count"),
    ({"ipolicy": {"disk-templates": ["bogus"]}}, "bogus"),
    ({"ipolicy": {"disk-templates": ["rbd"]}}, "not enabled on the cluster: rbd"),
    ({"ipolicy": {"vcpu-ratio": 0.5}}, "0.5"),
    ({"ipolicy": {"vcpu-ratio": "abc"}}, "vcpu-ratio"),
    ({"ipolicy": {"nosuch": "default"}}, "nosuch"),
    ({"ipolicy": {"std": SPEC}}, "std"),
    ({"hv_state": {"nosuch": {"x": 1}}}, "Invalid hypervisor(s) in hypervisor state: nosuch"),
    ({"disk_state": {"file": {"a": 1}}}, "Invalid storage type(s) in disk state: file"),
]


class SetParamsTests(GroupCase):
    """OP_GROUP_SET_PARAMS, and settings that cannot be."""

    def test_bad(self) -> None:
        """Whether the group is there or is to be: refused with the offending value, and nothing changed."""
        for settings, named in BAD:
            before = self.stage.snapshot
            for op in (
                ops.OpGroupSetParams(group_name="rack2", **settings),
                ops.OpGroupAdd(group_name="new", **settings),
            ):
                self.assertIn(named, self.refused(op, OpPrereqError))
            self.assertIs(self.stage.snapshot, before)

    def test_unknown(self) -> None:
        """There is no such group."""
        self.assertEqual(self.code(ops.OpGroupSetParams(group_name="nosuch")), ECode.NOENT)

    def test_changes(self) -> None:
        """Node and disk parameters are told as the group has them then; "default" takes them away."""
        told = self.run_op(ops.OpGroupSetParams(group_name="rack2", ndparams={"spindle_count": 3, "ovs": True}))
        self.assertEqual(told, [("ndparams", {"spindle_count": 3, "ovs": True})])
        told = self.run_op(ops.OpGroupSetParams(group_name="rack2", ndparams={"spindle_count": "default"}))
        self.assertEqual(told, [("ndparams", {"ovs": True})])
        told = self.run_op(
            ops.OpGroupSetParams(
                group_name="rack2", diskparams={DiskTemplate.DRBD: {"metavg": "meta", "protocol": "A"}}
            )
        )
        self.assertEqual(told, [("diskparams", {DiskTemplate.DRBD: {"metavg": "meta", "protocol": "A"}})])
        self.run_op(
            ops.OpGroupSetParams(
                group_name="rack2", diskparams={DiskTemplate.DRBD: {"metavg": "default", "protocol": "default"}}
            )
        )
        self.assertEqual(self.group("rack2").diskparams, {})

    def test_others(self) -> None:
        """The allocation policy is changed without a word; null changes nothing, as does an empty request."""
        self.assertEqual(
            self.run_op(ops.OpGroupSetParams(group_name="rack2", alloc_policy=AllocPolicy.UNALLOCABLE)), []
        )
        self.assertEqual(self.run_op(ops.OpGroupSetParams(group_name="rack2")), [])
        self.assertEqual(self.group("rack2").alloc_policy, AllocPolicy.UNALLOCABLE)

    def test_state(self) -> None:
        """State is laid over what there is, parameter by parameter."""
        for state in ({"kvm": {"mem_total": 1}}, {"kvm": {"cpu_total": 2}, "fake": {"mem_total": 3}}):
            self.run_op(ops.OpGroupSetParams(group_name="rack2", hv_state=state))
        wanted = {"kvm": {"mem_total": 1, "cpu_total": 2}, "fake": {"mem_total": 3}}
        self.assertEqual(self.group("rack2").hv_state_static, wanted)

    def test_policy(self) -> None:
        """Instances that do not fit any more are named once; the policy can be left to the cluster again."""
        narrow = ops.OpGroupSetParams(group_name="default", ipolicy={"minmax": bounds({}, {"disk-size": 100})})
        self.run_op(narrow)
        warning = "- WARNING: After the ipolicy change the following instances violate them: web1.example.com"
        self.assertEqual(self.stage.feedback, [warning])
        self.run_op(ops.OpGroupSetParams(group_name="default", ipolicy={"minmax": bounds({}, {"disk-size": 99})}))
        self.assertEqual(self.stage.feedback, [warning])
        self.run_op(ops.OpGroupSetParams(group_name="default", ipolicy={"minmax": "default"}))
        self.assertEqual(self.group("default").ipolicy, PartialPolicy())


class RemoveTests(GroupCase):
    """OP_GROUP_REMOVE."""

    def test_removed(self) -> None:
        """An empty one."""
        self.assertIsNone(self.run_op(ops.OpGroupRemove(group_name="rack2")))
        self.assertEqual(set(self.stage.snapshot.nodegroups), {GROUP.uuid})

    def test_default(self) -> None:
        """Where the default group is removed, the master's is it from then on, which is told."""
        self.run_op(ops.OpClusterSetParams(default_group="rack2"))  # type: ignore[call-arg]
        self.assertEqual(self.stage.snapshot.cluster.default_group, RACK2.uuid)
        self.run_op(ops.OpGroupRemove(group_name="rack2"))
        self.assertEqual(self.stage.snapshot.cluster.default_group, GROUP.uuid)
        self.assertEqual(self.stage.feedback, ["- INFO: node group default is the cluster's default group now"])

    def test_refusals(self) -> None:
        """One with nodes, or that is not there."""
        self.assertEqual(self.code(ops.OpGroupRemove(group_name="nosuch")), ECode.NOENT)
        self.assertEqual(self.code(ops.OpGroupRemove(group_name="default")), ECode.STATE)
        text = self.refused(ops.OpGroupRemove(group_name="default"), OpPrereqError)
        self.assertIn("Group 'default' not empty, has the following nodes: node1.example.com, node2.example.com", text)


class RenameTests(GroupCase):
    """OP_GROUP_RENAME."""

    def test_scopes(self) -> None:
        """How many are kept to a group by a name is told when that comes to be, or is no more, the name of one; not who."""
        users = [Kept("user", "bob"), Kept("user", "eve")]
        kept = {"rack2": [*users, Kept("token", "ci")], "rack3": [Kept("role", "ops")], "else": users}
        self.stage.group_scopes.update(kept)
        tells = "by the Remote API (on the master 'ganeti-rapi-access scope list' tells which)"
        leaves, comes = f"2 users, 1 token kept to group=rack2 {tells}", f"1 role kept to group=rack3 {tells}"
        for op, told in (
            (ops.OpGroupAdd(group_name="rack3"), [f"{comes}: what will be"]),
            (ops.OpGroupRemove(group_name="rack3"), [f"{comes}: nothing is in that scope"]),
            (
                ops.OpGroupRename(group_name="rack2", new_name="rack3"),
                [f"{leaves}: nothing is in", f"{comes}: what will be"],
            ),
            (ops.OpGroupRename(group_name="rack3", new_name="rack4"), [f"{comes}: nothing is in"]),
            (ops.OpGroupRemove(group_name="rack4"), []),
        ):
            self.stage.feedback.clear()
            self.run_op(op)
            said = [line for line in self.stage.feedback if "WARNING" in line]
            self.assertEqual(len(said), len(told), said)
            for line, part in zip(said, told, strict=True):
                self.assertIn(f"- WARNING: {part}", line)
                for name in ("bob", "eve", "ci", "ops"):
                    self.assertNotIn(name, line.split())

    def test_renamed(self) -> None:
        """The new name is given back; the uuid stays."""
        self.assertEqual(self.run_op(ops.OpGroupRename(group_name="rack2", new_name="rack3")), "rack3")
        self.assertEqual(self.group("rack3").uuid, RACK2.uuid)

    def test_refusals(self) -> None:
        """A name that a group has, its own too; or a group that is not there."""
        for name in ("default", "rack2"):
            self.assertEqual(self.code(ops.OpGroupRename(group_name="rack2", new_name=name)), ECode.EXISTS)
        self.assertEqual(self.code(ops.OpGroupRename(group_name="nosuch", new_name="x")), ECode.NOENT)


class EvacuateTests(GroupCase):
    """OP_GROUP_EVACUATE."""

    def test_nothing_there(self) -> None:
        """There are no jobs to wait for."""
        self.assertEqual(self.run_op(ops.OpGroupEvacuate(group_name="rack2")), {"jobs": []})

    def test_refusals(self) -> None:
        """Where it is to be moved to itself, has nowhere to go, or is not there; or nobody finds where to."""
        for named, targets, code in (
            ("nosuch", None, ECode.NOENT),
            ("default", ("nosuch",), ECode.NOENT),
            ("default", ("rack2", "default"), ECode.INVAL),
            ("default", None, ECode.INVAL),
        ):
            self.assertEqual(self.code(ops.OpGroupEvacuate(group_name=named, target_groups=targets)), code)
        fault = "there is no cluster-wide default iallocator"
        self.assertIn(fault, self.refused(ops.OpGroupEvacuate(group_name="default"), OpPrereqError))
        self.run_op(ops.OpGroupRemove(group_name="rack2"))
        self.assertEqual(self.code(ops.OpGroupEvacuate(group_name="default")), ECode.INVAL)


class AssignTests(GroupCase):
    """OP_GROUP_ASSIGN_NODES."""

    def assign(self, *nodes: str, group: str = "rack2", **more: Any) -> OpCode:
        """A request."""
        return ops.OpGroupAssignNodes(group_name=group, nodes=nodes, **more)

    def test_moved(self) -> None:
        """All are moved in one change, each once; both groups list who is in them."""
        serial = self.stage.snapshot.serial_no
        self.assertIsNone(self.run_op(self.assign("node2", "node2.example.com")))
        self.assertEqual(self.group("rack2").members, (NODE2.uuid,))
        self.assertEqual(self.group("default").members, ("node1-uuid",))
        self.assertEqual(self.stage.snapshot.serial_no, serial + 1)
        self.assertIn("nodegroup/rack2-uuid", self.stage.locked)
        self.assertIn("nodegroup/group-uuid", self.stage.locked)
        self.assertEqual(self.stage.locked["node/node2-uuid"], "exclusive")

    def test_there_already(self) -> None:
        """Nodes that are there stay as they are."""
        before = self.stage.snapshot
        self.run_op(self.assign("node1", "node2", group="default"))
        self.assertIs(self.stage.snapshot, before)

    def test_refusals(self) -> None:
        """No such group, no such node, no node at all."""
        self.assertEqual(self.code(self.assign("node2", group="nosuch")), ECode.NOENT)
        self.assertEqual(self.code(self.assign("node2", "nosuch")), ECode.NOENT)
        self.assertEqual(self.code(self.assign()), ECode.INVAL)


class NetworkTests(GroupCase):
    """web1 has a NIC in a network that only its own group is connected to."""

    initial = replace(
        TWO_GROUPS,
        networks={NETWORK.uuid: NETWORK},
        nodegroups={**TWO_GROUPS.nodegroups, GROUP.uuid: replace(GROUP, networks={NETWORK.uuid: {}})},
        instances={INSTANCE.uuid: replace(INSTANCE, nics=(replace(NIC, network=NETWORK.uuid),))},
    )

    def test_cut_off(self) -> None:
        """Its node is moved by force only, with a warning; another node at once."""
        op = ops.OpGroupAssignNodes(group_name="rack2", nodes=("node1",))
        self.assertEqual(self.code(op), ECode.STATE)
        text = "The following instances have NICs in networks that group rack2 is not connected to"
        self.assertIn(f"{text}, and --force was not given: web1.example.com", self.refused(op, OpPrereqError))
        self.run_op(replace(op, nodes=("node2",)))
        self.assertEqual(self.stage.feedback, [])
        self.run_op(replace(op, force=True))
        self.assertEqual(self.stage.feedback, [f"- WARNING: {text}: web1.example.com"])

    def test_connected(self) -> None:
        """Where the network is connected, too, nothing is in the way."""
        rack2 = replace(RACK2, networks={NETWORK.uuid: {}})
        self.stage = self.make_stage(replace(self.initial, nodegroups={**self.initial.nodegroups, rack2.uuid: rack2}))
        self.run_op(ops.OpGroupAssignNodes(group_name="rack2", nodes=("node1",)))
        self.assertEqual(self.stage.feedback, [])


class SplitTests(AssignTests):
    """With an instance that is mirrored between both nodes."""

    initial = MIRRORED

    def test_moved(self) -> None:
        """Both together may go."""
        self.run_op(self.assign("node1", "node2"))
        self.assertEqual(self.group("rack2").members, ("node1-uuid", "node2-uuid"))

    def test_split(self) -> None:
        """One alone only by force; who is torn apart, and who is so still, is told."""
        self.assertEqual(self.code(self.assign("node2")), ECode.STATE)
        text = self.refused(self.assign("node2"), OpPrereqError)
        self.assertIn("web1.example.com", text)
        self.assertIn("--force", text)
        self.run_op(self.assign("node2", force=True))
        self.assertIn("split the following instances: web1.example.com", self.stage.feedback[-1])
        self.assertEqual(self.group("rack2").members, (NODE2.uuid,))
        self.run_op(ops.OpGroupAdd(group_name="rack3"))
        self.run_op(self.assign("node2", group="rack3"))
        self.assertIn("already-split instances continue to be split across groups: web1", self.stage.feedback[-1])
        self.run_op(self.assign("node2", group="default"))
        self.assertEqual(self.group("default").members, ("node1-uuid", "node2-uuid"))
