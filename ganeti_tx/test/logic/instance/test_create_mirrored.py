"""Tests of making instances whose disks are mirrored, as if nodes had the driver."""

import json
from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_templates import AVAILABLE
from ganeti_tx.model.disk_templates.drbd import META_SIZE
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.opcodes import OpGroupAdd, OpGroupAssignNodes
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.rpc.calls.allocator import IallocatorRunner
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevCreate, BlockdevRemove
from ganeti_tx.rpc.calls.instance import AllInstancesInfo, InstanceStart
from ganeti_tx.rpc.calls.mirror import BlockdevGetmirrorstatus
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo, StorageSpace
from ganeti_tx.rpc.interfaces import NodeCallError
from ganeti_tx.test.logic.instance.test_create import create
from ganeti_tx.test.logic.stage import CONFIG, GROUP, INSTANCE, UnitTestCase, spaces

NODE1, NODE2 = "node1.example.com", "node2.example.com"
ROOM = 8000


class MirroredTests(UnitTestCase):
    """OP_INSTANCE_CREATE with the template drbd."""

    initial = replace(
        CONFIG,
        cluster=replace(CONFIG.cluster, volume_group_name="vg0"),
        nodegroups={GROUP.uuid: replace(GROUP, diskparams={DiskTemplate.DRBD: {"metavg": "meta0"}})},
    )

    def setUp(self) -> None:
        super().setUp()
        self.stage.templates = (*AVAILABLE, DiskTemplate.DRBD)
        self.nodes.answer(BlockdevGetmirrorstatus, [BlockDevStatus(dev_path="/dev/drbd0", size=1024)])
        self.have_room({})

    def have_room(self, free: dict[tuple[str, str], int]) -> None:
        """The free MiB of a node's volume groups; as much as is wanted in others."""

        def facts(node: str, call: NodeInfo) -> NodeFacts:
            told = [
                StorageSpace(unit.type, unit.name, ROOM, free.get((node, unit.name), ROOM))
                for unit in call.storage_units
            ]
            return NodeFacts(boot_id="", storage=told, hypervisors={"kvm": {"memory_free": 4096}})

        self.nodes.answers[NodeInfo] = facts

    def create(self, **changes: Any) -> Any:
        """The opcode with a secondary node."""
        return create(**{"disk_template": DiskTemplate.DRBD, "snode": NODE1, **changes})

    def test_two_groups(self) -> None:
        """Both nodes must be in one node group."""
        self.run_op(OpGroupAdd(group_name="rack2"))
        self.run_op(OpGroupAssignNodes(group_name="rack2", nodes=(NODE1,), force=True))
        text = self.refused(self.create(), OpPrereqError)
        self.assertIn(f"node {NODE2} is in group default and node {NODE1} in rack2", text)

    def made(self) -> tuple[Instance, list[Disk]]:
        """The new instance with its disks as they are in the configuration."""
        snapshot = self.stage.snapshot
        (instance,) = (held for held in snapshot.instances.values() if held.uuid != INSTANCE.uuid)
        return instance, [snapshot.disks[uuid] for uuid in instance.disks]

    def places(self, kind: type[BlockdevCreate] | type[BlockdevRemove]) -> list[tuple[str, int]]:
        """On which node what was done with which disk, in order."""
        return [(node, call.disk.index) for node, call in self.nodes.sent if isinstance(call, kind)]

    def test_disks(self) -> None:
        """Each mirror has both nodes, a port, a minor on each and a secret of its own; the primary node comes first."""
        self.assertEqual(self.run_op(self.create()), [NODE2, NODE1])
        instance, disks = self.made()
        for disk in disks:
            self.assertEqual(disk.mirrors, ("node2-uuid", "node1-uuid"))
            self.assertEqual(disk.nodes, disk.mirrors)
        self.assertEqual(len({disk.ports for disk in disks} | {(instance.network_port,)}), 3)
        self.assertEqual(len({minor for disk in disks for minor in disk.minors}), 4)
        self.assertEqual(len({disk.secrets for disk in disks}), 2)

    def test_by_allocator(self) -> None:
        """An allocator is asked for two nodes, with the room for metadata; the first that it says is the primary one."""
        memory = {"memory_total": 8192, "memory_free": 4096, "memory_dom0": 512, "cpu_total": 4, "cpu_dom0": 0}
        self.nodes.answers[NodeInfo] = lambda node, call: NodeFacts(
            boot_id="", storage=spaces(call.storage_units), hypervisors={"kvm": memory}
        )
        self.nodes.answer(AllInstancesInfo, {})
        self.nodes.answer(IallocatorRunner, json.dumps({"success": True, "info": "", "result": [NODE1, NODE2]}))
        op = self.create(pnode=None, snode=None, iallocator="hail", disks=({"size": 2048},))
        self.assertEqual(self.run_op(op), [NODE1, NODE2])
        _, [disk] = self.made()
        self.assertEqual(disk.mirrors, ("node1-uuid", "node2-uuid"))
        (call,) = self.nodes.of_kind(IallocatorRunner)
        asked = json.loads(call.idata)["request"]
        self.assertEqual((asked["required_nodes"], asked["disk_space_total"]), (2, 2048 + META_SIZE))

    def test_volumes(self) -> None:
        """Two volumes: data in the cluster's group, metadata in that of the node group's parameter; or as it is said."""
        self.run_op(self.create(disks=({"size": 2048}, {"size": 1024, "vg": "fast", "metavg": "slow"})))
        found = []
        for index, disk in enumerate(self.made()[1]):
            for child in disk.children:
                assert child.logical_id is not None
                vg, name = child.logical_id
                self.assertEqual((child.dev_type, child.nodes), (DiskTemplate.PLAIN, disk.nodes))
                found.append((vg, str(name).removeprefix(f"{disk.uuid}.disk{index}"), child.size))
        self.assertEqual(
            found, [("vg0", "_data", 2048), ("meta0", "_meta", 128), ("fast", "_data", 1024), ("slow", "_meta", 128)]
        )

    def test_on_both_nodes(self) -> None:
        """Both nodes make each disk; before the instance starts the other node has its end ready."""
        self.run_op(self.create(no_install=False))
        self.assertEqual(self.places(BlockdevCreate), [(NODE2, 0), (NODE1, 0), (NODE2, 1), (NODE1, 1)])
        ready = [(node, call.on_primary) for node, call in self.nodes.sent if isinstance(call, BlockdevAssemble)]
        self.assertEqual(ready[0], (NODE1, False))
        self.assertEqual(set(ready), {(NODE1, False), (NODE2, True)})
        (start,) = self.nodes.of_kind(InstanceStart)
        secondary = [self.stage.snapshot.nodes[uuid].name for uuid in start.instance.secondary_nodes]
        self.assertEqual(secondary, [NODE1])

    def test_second_node_fails(self) -> None:
        """What was made is removed, from the first node too."""

        def only_here(node: str, call: BlockdevCreate) -> None:
            if node == NODE1 and call.disk.index == 1:
                raise NodeCallError(f"node {node}: no such volume group")

        self.nodes.answers[BlockdevCreate] = only_here
        self.assertIn(f"node {NODE1}: no such volume group", self.refused(self.create(), OpExecError))
        self.assertEqual(self.places(BlockdevRemove), [(NODE2, 1), (NODE1, 0), (NODE2, 0)])
        self.assertEqual(set(self.stage.snapshot.instances), {INSTANCE.uuid})

    def test_nodes(self) -> None:
        """There must be two, and both must take instances and have room for data and metadata."""
        for text, changes in (
            ("need 2 nodes", {"snode": None}),
            ("cannot be the primary and the secondary", {"snode": NODE2}),
        ):
            self.assertIn(text, self.refused(self.create(**changes), OpPrereqError))
        for node, vg, free, wanted in ((NODE1, "vg0", 3071, 3072), (NODE2, "meta0", 255, 256)):
            self.have_room({(node, vg): free})
            self.assertIn(
                f"not enough room in {vg} of node {node}: needed {wanted} MiB",
                self.refused(self.create(), OpPrereqError),
            )
        self.assertEqual(self.places(BlockdevCreate), [])
