"""Tests of making instances where an allocator chooses."""

import json
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest, Owner
from ganeti_tx.locking.levels import BGL, Level, Lock
from ganeti_tx.locking.owner_locks import OwnerLocks
from ganeti_tx.rpc.calls.allocator import IallocatorRunner
from ganeti_tx.rpc.calls.disk import BlockdevCreate
from ganeti_tx.rpc.calls.instance import AllInstancesInfo
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo, StorageSpace
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.test.logic.instance.test_create import create
from ganeti_tx.test.logic.stage import CLUSTER, CONFIG, FILE_DIR, UnitTestCase

MEMORY = {"memory_total": 8192, "memory_free": 4096, "memory_dom0": 512, "cpu_total": 4, "cpu_dom0": 0}
SPACE = StorageSpace("file", FILE_DIR, 100_000, 90_000)
DEFAULTS = replace(
    CONFIG, cluster=replace(CLUSTER, default_iallocator="hail", default_iallocator_params={"quick": None})
)


class AllocatorTests(UnitTestCase):
    """Two nodes that tell what they have, and an allocator that chooses the second one."""

    def setUp(self) -> None:
        super().setUp()
        self.tell()

    def tell(self) -> None:
        """Have the nodes answer."""
        self.nodes.answer(NodeInfo, NodeFacts(boot_id="", storage=[SPACE], hypervisors={"kvm": MEMORY}))
        self.nodes.answer(AllInstancesInfo, {})
        self.answer(["node2.example.com"])

    def answer(self, result: Any, success: bool = True, info: str = "") -> None:
        """What the allocator says."""
        self.nodes.answer(IallocatorRunner, json.dumps({"success": success, "info": info, "result": result}))

    def create(self, **changes: Any) -> Any:
        """A request without a node."""
        return create(**{"pnode": None, "iallocator": "hail", **changes})

    def document(self) -> dict[str, Any]:
        """What the allocator was given."""
        (call,) = self.nodes.of_kind(IallocatorRunner)
        told: dict[str, Any] = json.loads(call.idata)
        return told

    def test_chosen(self) -> None:
        """It is asked on the master, told what is wanted, and its choice is told and taken."""
        self.assertEqual(self.run_op(self.create(start=False)), ["node2.example.com"])
        self.assertEqual(
            [(node, call.allocator) for node, call in self.nodes.sent if isinstance(call, IallocatorRunner)],
            [("node1.example.com", "hail")],
        )
        self.assertIn(
            "- INFO: Selected nodes for instance web2.example.com via iallocator hail: node2.example.com",
            self.stage.feedback,
        )
        asked = self.document()["request"]
        wanted = {
            "type": "allocate",
            "name": "web2.example.com",
            "memory": 512,
            "required_nodes": 1,
            "disk_space_total": 3072,
            "disk_template": "file",
            "group_name": None,
        }
        self.assertEqual({name: asked[name] for name in wanted}, wanted)
        self.assertEqual([disk["size"] for disk in asked["disks"]], [2048, 1024])
        self.assertEqual(
            asked["nics"], [{"mac": "auto", "ip": None, "mode": "bridged", "link": "xen-br0", "bridge": "xen-br0"}]
        )
        node = self.document()["nodes"]["node2.example.com"]
        self.assertEqual((node["total_disk"], node["free_disk"], node["free_memory"]), (100_000, 90_000, 4096))

    def test_group(self) -> None:
        """It is told of the group that was asked for, by its name; one that is not there is refused before."""
        self.assertIn("nogroup", self.refused(self.create(group_name="nogroup"), OpPrereqError))
        self.run_op(self.create(group_name="group-uuid"))
        self.assertEqual(self.document()["request"]["group_name"], "default")

    def test_locks(self) -> None:
        """It chooses alone, with all nodes; from then on the others are free, and so are those who choose nothing."""
        held: list[dict[str, str]] = []

        def look(node: str, call: Any) -> None:
            locks = self.successResultOf(Deferred.fromCoroutine(self.stage.locks.held()))
            held.append({str(lock): mode.value for lock, mode in locks.items()})

        self.nodes.answers[BlockdevCreate] = look
        self.run_op(self.create())
        self.assertEqual(
            {name for name in self.stage.locked if name.startswith("node")},
            {
                *("node-alloc/NAL", "node/node1-uuid", "node/node2-uuid"),
                *("node-res/node1-uuid", "node-res/node2-uuid"),
            },
        )
        self.assertEqual(self.stage.locked["node-alloc/NAL"], "exclusive")
        self.assertEqual(
            {name: mode for name, mode in held[0].items() if name.startswith("node")},
            {"node-alloc/NAL": "shared", "node/node2-uuid": "shared", "node-res/node2-uuid": "shared"},
        )

    def test_default(self) -> None:
        """The cluster's own one is asked when none is given, and when it is meant; with the cluster's options for it."""
        for asked in (None, "."):
            self.stage = self.make_stage(DEFAULTS)
            self.nodes = self.stage.nodes
            self.tell()
            self.run_op(self.create(iallocator=asked))
            (call,) = self.nodes.of_kind(IallocatorRunner)
            self.assertEqual((call.allocator, call.default_iallocator_params), ("hail", {"quick": None}))

    def test_nothing_found(self) -> None:
        """What the allocator says is told, and nothing is done."""
        self.answer([], success=False, info="Request failed: FailDisk: 2")
        text = self.refused(self.create(), OpPrereqError)
        self.assertEqual(text, "Can't compute nodes using iallocator 'hail': Request failed: FailDisk: 2")
        self.assertEqual(self.nodes.of_kind(BlockdevCreate), [])

    def test_cannot_be_run(self) -> None:
        """The node's own words are told."""
        self.nodes.fail(IallocatorRunner, OpExecError("iallocator module 'hail' not found in the search path"))
        self.assertEqual(
            self.refused(self.create(), OpExecError),
            "Failure while running the iallocator script: iallocator module 'hail' not found in the search path",
        )

    def test_strange_choice(self) -> None:
        """A node that is not in the cluster is not used."""
        self.answer(["node9.example.com"])
        self.assertIn("'node9.example.com'", self.refused(self.create(), OpExecError))

    def test_silent_node(self) -> None:
        """A node that does not answer is told of, and the allocator cannot choose it."""
        known = self.nodes.answers[NodeInfo]

        def only_the_second(node: str, call: Any) -> Any:
            if node == "node1.example.com":
                raise NodeUnreachableError(f"{node} did not answer")
            return known(node, call)

        self.nodes.answers[NodeInfo] = only_the_second
        self.run_op(self.create())
        self.assertIn(
            "- WARNING: node node1.example.com is not proposed to the iallocator: node1.example.com did not answer",
            self.stage.feedback,
        )
        self.assertTrue(self.document()["nodes"]["node1.example.com"]["offline"])

    def test_dry_run(self) -> None:
        """The choice is told in a dry run, too, and is what it gives."""
        self.assertEqual(self.run_op(self.create(dry_run=True)), ["node2.example.com"])
        self.assertIn("via iallocator hail: node2.example.com", self.stage.feedback[-1])

    def held(self) -> dict[str, str]:
        """The locks of nodes that the job has."""
        locks = self.successResultOf(Deferred.fromCoroutine(self.stage.locks.held()))
        return {str(lock): mode.value for lock, mode in locks.items() if str(lock).startswith("node")}

    def other_has(self, *names: str) -> None:
        """Another job has nodes for itself."""
        locks = OwnerLocks(self.stage.locks._locks, Owner(2, "other"))
        wanted = [LockRequest.exclusive(Lock(Level.NODE, name)) for name in names]
        self.successResultOf(Deferred.fromCoroutine(locks.update([LockRequest.shared(BGL), *wanted])))

    def test_opportunistic(self) -> None:
        """Only nodes that are free are proposed; those chosen are its own, and others may choose meanwhile."""
        held: list[dict[str, str]] = []
        self.nodes.answers[BlockdevCreate] = lambda node, call: held.append(self.held())
        self.other_has("node1-uuid")
        self.assertEqual(self.run_op(self.create(opportunistic_locking=True)), ["node2.example.com"])
        self.assertEqual(self.document()["request"]["restrict-to-nodes"], ["node2.example.com"])
        self.assertEqual(held[0], {"node/node2-uuid": "exclusive", "node-res/node2-uuid": "exclusive"})

    def test_nothing_free(self) -> None:
        """When too few are free, or none that will do, it may be tried again later."""
        self.other_has("node1-uuid", "node2-uuid")
        error = self.failureResultOf(self.stage.run(self.create(opportunistic_locking=True)), OpPrereqError).value
        self.assertEqual(error.ecode, ECode.TEMP_NORES)
        self.assertIn("0, but 1 wanted", str(error))
        self.assertEqual(self.nodes.of_kind(IallocatorRunner), [])

    def test_nothing_free_will_do(self) -> None:
        """The same when the allocator finds none of them good."""
        self.answer([], success=False, info="FailDisk: 1")
        error = self.failureResultOf(self.stage.run(self.create(opportunistic_locking=True)), OpPrereqError).value
        self.assertEqual(error.ecode, ECode.TEMP_NORES)

    def test_opportunistic_with_node(self) -> None:
        """It has no meaning where a node is given."""
        text = self.refused(create(opportunistic_locking=True), OpPrereqError)
        self.assertIn("opportunistic_locking goes with an iallocator only, but node node2 is given", text)
