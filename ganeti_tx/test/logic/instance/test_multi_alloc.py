"""Tests of making several instances at once."""

import json
from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.opcodes import OpInstanceCreate, OpInstanceMultiAlloc
from ganeti_tx.model.opcodes.private import Secret
from ganeti_tx.model.opcodes.types import InstanceCreateMode
from ganeti_tx.rpc.calls.allocator import IallocatorRunner
from ganeti_tx.rpc.calls.instance import AllInstancesInfo
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo
from ganeti_tx.test.logic.instance.test_create_by_allocator import DEFAULTS, MEMORY, SPACE
from ganeti_tx.test.logic.stage import UnitTestCase


def one(name: str, **changes: Any) -> OpInstanceCreate:
    """A new instance without a node."""
    given: dict[str, Any] = {
        "mode": InstanceCreateMode.CREATE,
        "disks": ({"size": "2G"},),
        "disk_template": DiskTemplate.FILE,
        "nics": ({},),
        "os_type": "busybox",
        "name_check": False,
        "ip_check": False,
        **changes,
    }
    return OpInstanceCreate(instance_name=name, **given)


def several(*instances: OpInstanceCreate, **more: Any) -> OpInstanceMultiAlloc:
    """The request for them."""
    return OpInstanceMultiAlloc(instances=instances, **more)


class MultiAllocTests(UnitTestCase):
    """OP_INSTANCE_MULTI_ALLOC."""

    def setUp(self) -> None:
        super().setUp()
        self.nodes.answer(NodeInfo, NodeFacts(boot_id="", storage=[SPACE], hypervisors={"kvm": MEMORY}))
        self.nodes.answer(AllInstancesInfo, {})
        self.choose([["a.example.com", ["node2.example.com"]], ["b.example.com", ["node1.example.com"]]], [])

    def choose(self, chosen: list[Any], failed: list[Any]) -> None:
        """What the allocator says."""
        answer = {"success": True, "info": "", "result": [chosen, failed]}
        self.nodes.answer(IallocatorRunner, json.dumps(answer))

    def submitted(self) -> list[OpInstanceCreate]:
        """The opcodes of the jobs."""
        [jobs] = self.stage.submitted
        return [op for [op] in jobs if isinstance(op, OpInstanceCreate)]

    def test_placed(self) -> None:
        """With nodes given each has its job at once, by the priority and the reason of the whole; no node is locked."""
        secret = {"pass": Secret("s")}
        wanted = (one("a.example.com", pnode="node1", osparams_secret=secret), one("b.example.com", pnode="node2"))
        reason = (("me", "because", 1),)
        result = self.run_op(several(*wanted, priority=10, reason=reason))
        self.assertEqual(
            result,
            {"jobs": [(True, 100), (True, 101)], "allocatable": ["a.example.com", "b.example.com"], "failed": []},
        )
        self.assertEqual(self.submitted(), [replace(op, priority=10, reason=reason) for op in wanted])
        self.assertEqual([name for name in self.stage.locked if "node" in name], [])
        self.assertEqual(self.nodes.sent, [])

    def test_chosen(self) -> None:
        """An allocator chooses for all of them at once; it is told all of each."""
        result = self.run_op(
            several(one("a.example.com"), one("b.example.com", group_name="default"), iallocator="hail")
        )
        self.assertEqual(result["allocatable"], ["a.example.com", "b.example.com"])
        self.assertEqual([op.pnode for op in self.submitted()], ["node2.example.com", "node1.example.com"])
        [call] = self.nodes.of_kind(IallocatorRunner)
        request = json.loads(call.idata)["request"]
        self.assertEqual(request["type"], "multi-allocate")
        self.assertEqual([each["name"] for each in request["instances"]], ["a.example.com", "b.example.com"])
        self.assertEqual(self.stage.locked["node-alloc/NAL"], "exclusive")

    def test_not_all(self) -> None:
        """Those that do not fit are told, the others are made."""
        self.choose([["b.example.com", ["node1.example.com"]]], [["a.example.com", "no room"]])
        result = self.run_op(several(one("a.example.com"), one("b.example.com"), iallocator="hail"))
        self.assertEqual((result["allocatable"], result["failed"]), (["b.example.com"], ["a.example.com"]))
        self.assertEqual([op.instance_name for op in self.submitted()], ["b.example.com"])
        self.assertIn("- WARNING: no nodes were found for instance a.example.com: no room", self.stage.feedback)

    def test_stranger(self) -> None:
        """A node that the cluster does not have is refused before anything is done."""
        self.choose([["a.example.com", ["ghost"]]], [])
        self.assertIn("ghost", self.refused(several(one("a.example.com"), iallocator="hail"), OpExecError))
        self.assertEqual(self.stage.submitted, [])

    def refused_with(self, op: OpInstanceMultiAlloc, code: ECode, text: str) -> None:
        """With a code, and nothing is submitted."""
        error = self.failureResultOf(self.stage.run(op), OpPrereqError).value
        assert isinstance(error, OpPrereqError)
        self.assertIn(text, str(error))
        self.assertEqual(error.ecode, code)
        self.assertEqual(self.stage.submitted, [])

    def test_contradictions(self) -> None:
        """What does not fit together, or cannot be by itself."""
        placed, free = one("a.example.com", pnode="node1"), one("b.example.com")
        for op, code, text in (
            (several(), ECode.INVAL, "no instances"),
            (several(placed, free), ECode.INVAL, "only these are: a.example.com"),
            (several(placed, iallocator="hail"), ECode.INVAL, "exclude each other"),
            (several(free), ECode.INVAL, "no cluster-wide default iallocator"),
            (several(one("a", iallocator="hail")), ECode.INVAL, "instance a: one iallocator"),
            (several(placed, replace(placed, pnode="node2")), ECode.NOTUNIQUE, "a.example.com"),
            (several(one("web1.example.com"), iallocator="hail"), ECode.EXISTS, "already in the cluster"),
            (several(replace(placed, os_type=None)), ECode.INVAL, "no guest OS"),
            (several(replace(placed, mode=InstanceCreateMode.IMPORT)), ECode.INVAL, "mode import is not available"),
            (several(replace(placed, instance_name="a/b")), ECode.INVAL, "not a host name"),
            (several(replace(placed, disks=())), ECode.INVAL, "disks"),
        ):
            self.refused_with(op, code, text)


class DefaultTests(MultiAllocTests):
    """The same where the cluster has a default allocator."""

    initial = DEFAULTS

    def test_contradictions(self) -> None:
        """It is taken where none is given."""
        self.run_op(several(one("a.example.com"), one("b.example.com")))
        self.assertEqual(len(self.submitted()), 2)

    def test_opportunistic(self) -> None:
        """Only nodes that nobody uses are proposed."""
        self.run_op(several(one("a.example.com"), one("b.example.com"), opportunistic_locking=True))
        [call] = self.nodes.of_kind(IallocatorRunner)
        for each in json.loads(call.idata)["request"]["instances"]:
            self.assertEqual(each["restrict-to-nodes"], ["node1.example.com", "node2.example.com"])
