"""Tests of asking allocators: which, in which order, and what is made of an answer."""

import json
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.allocation import relocate
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpTagsGet
from ganeti_tx.rpc.calls.allocator import IallocatorRunner
from ganeti_tx.rpc.calls.instance import AllInstancesInfo
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo
from ganeti_tx.test.logic.instance.test_create_by_allocator import MEMORY, SPACE
from ganeti_tx.test.logic.stage import CONFIG, FILE_DISK, INSTANCE, UnitTestCase
from ganeti_tx.test.model.samples import NODE2

WEB1 = "web1.example.com"
NOTHING = {"success": False, "info": "FailDisk: 2", "result": []}
SECOND = {"success": True, "info": "", "result": ["node2.example.com"]}


class Asking(LogicalUnit[Any]):
    """Gives its parts to a step that asks."""

    async def execute(self) -> None:
        """Nothing."""


class AllocationTests(UnitTestCase):
    """web1, whose disk is in a shared file, is to leave node1 for node2."""

    initial = replace(CONFIG, disks={FILE_DISK.uuid: replace(FILE_DISK, dev_type=DiskTemplate.SHAREDFILE)})

    def setUp(self) -> None:
        super().setUp()
        self.begin(self.initial)

    def begin(self, config: ConfigData, **settings: Any) -> None:
        """Set the stage, with what every allocator says."""
        self.stage = self.make_stage(replace(config, cluster=replace(config.cluster, **settings)))
        self.nodes = self.stage.nodes
        self.nodes.answer(NodeInfo, NodeFacts(boot_id="", storage=[SPACE], hypervisors={"kvm": MEMORY}))
        self.nodes.answer(AllInstancesInfo, {})
        self.said: dict[str, object] = {}
        self.nodes.answers[IallocatorRunner] = lambda node, call: self.answer(call.allocator)

    def answer(self, name: str) -> str:
        """What one allocator says; it may be to fail."""
        said = self.said.get(name, SECOND)
        if isinstance(said, Exception):
            raise said
        return json.dumps(said)

    def relocated(self, asked: str | None = None) -> "Deferred[Node]":
        """Where web1 shall go."""
        unit = Asking(OpTagsGet(kind="cluster"), self.stage.context())  # type: ignore[arg-type]

        async def ask() -> Node:
            view = await unit.config.instance_view(INSTANCE.uuid)
            return await relocate(unit, asked, view, [view.primary])

        return Deferred.fromCoroutine(ask())

    def asked(self) -> list[str]:
        """The allocators that were run, in order."""
        return [call.allocator for call in self.nodes.of_kind(IallocatorRunner)]

    def test_relocated(self) -> None:
        """The request names the node to leave; the choice is told."""
        self.assertEqual(self.successResultOf(self.relocated("hail")).name, "node2.example.com")
        (call,) = self.nodes.of_kind(IallocatorRunner)
        self.assertEqual(
            json.loads(call.idata)["request"],
            {
                "type": "relocate",
                "name": WEB1,
                "disk_space_total": 1024,
                "relocate_from": ["node1.example.com"],
                "required_nodes": 1,
            },
        )
        self.assertEqual(
            self.stage.feedback,
            [f"- INFO: Selected nodes for instance {WEB1} via iallocator hail: node2.example.com"],
        )

    def test_in_order(self) -> None:
        """The default ones for relocations are tried until one finds a node; whoever was passed over is told of."""
        self.begin(self.initial, default_iallocator="other/relocate:broken,full,hail,last")
        self.said = {"broken": OpExecError("exit code 1"), "full": NOTHING}
        self.assertEqual(self.successResultOf(self.relocated()).name, "node2.example.com")
        self.assertEqual(self.asked(), ["broken", "full", "hail"])
        self.assertEqual(
            self.stage.feedback,
            [
                "- WARNING: Failure while running the iallocator script: exit code 1; trying the next iallocator",
                "- WARNING: Can't compute nodes using iallocator 'full': FailDisk: 2; trying the next iallocator",
                f"- INFO: Selected nodes for instance {WEB1} via iallocator hail: node2.example.com",
            ],
        )

    def test_none_helps(self) -> None:
        """The last one's words are the refusal."""
        self.begin(self.initial, default_iallocator="broken,full")
        self.said = {"broken": OpExecError("exit code 1"), "full": NOTHING}
        error = self.failureResultOf(self.relocated("."), OpPrereqError).value
        self.assertEqual(str(error), "Can't compute nodes using iallocator 'full': FailDisk: 2")
        self.assertEqual(error.ecode, ECode.NORES)

    def test_no_default(self) -> None:
        """Where there is none for such requests, one must be named."""
        for default, fault in (("", "default iallocator;"), ("allocate:hail", "for requests of kind relocate;")):
            self.begin(self.initial, default_iallocator=default)
            error = self.failureResultOf(self.relocated(), OpPrereqError).value
            self.assertIn(fault, str(error))
            self.assertEqual(self.asked(), [])

    def test_options(self) -> None:
        """Each default allocator gets the common options and its own."""
        params = {"quick": None, "full:level": 3, "hail:level": 4}
        self.begin(self.initial, default_iallocator="full,hail", default_iallocator_params=params)
        self.said = {"full": NOTHING}
        self.successResultOf(self.relocated())
        given = [call.default_iallocator_params for call in self.nodes.of_kind(IallocatorRunner)]
        self.assertEqual(given, [{"quick": None, "level": 3}, {"quick": None, "level": 4}])

    def test_choice_that_cannot_be(self) -> None:
        """A node that the instance cannot come to is refused, and why."""
        node2 = replace(CONFIG.nodes[NODE2.uuid], master_candidate=False)
        for config, chosen, fault in (
            (self.initial, "node9.example.com", "there is no such node"),
            (self.initial, "node1.example.com", "the instance is there already"),
            (
                replace(self.initial, nodes={**CONFIG.nodes, node2.uuid: replace(node2, drained=True)}),
                node2.name,
                "is drained",
            ),
            (
                replace(self.initial, nodes={**CONFIG.nodes, node2.uuid: replace(node2, offline=True)}),
                node2.name,
                "offline",
            ),
        ):
            self.begin(config, candidate_pool_size=1)
            self.said = {"hail": {**SECOND, "result": [chosen]}}
            text = str(self.failureResultOf(self.relocated("hail"), OpExecError).value)
            self.assertIn(f"iallocator 'hail' has chosen '{chosen}' for {WEB1}", text)
            self.assertIn(fault, text)
