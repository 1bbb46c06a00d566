"""An instance's life through the real node calls, on a node with a pretended hypervisor and disks in memory."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import define, field
from msgspec.structs import replace
from twisted.internet.task import Clock
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError, HypervisorError, OpExecError, OpPrereqError
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.opcodes import (
    OpInstanceCreate,
    OpInstanceQueryData,
    OpInstanceReboot,
    OpInstanceRemove,
    OpInstanceShutdown,
    OpInstanceStartup,
)
from ganeti_tx.model.opcodes.types import InstanceCreateMode, RebootType
from ganeti_tx.node.answers import answers
from ganeti_tx.node.call_order import CallOrder
from ganeti_tx.node.disks import Disks
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.hypervisor.fake.driver import FakeHypervisor
from ganeti_tx.node.instances import Instances
from ganeti_tx.node.storage.links import DiskLinks
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo
from ganeti_tx.rpc.interfaces import INodeRpc
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.fakes.storage import FakeStorage, only
from ganeti_tx.test.logic.stage import CONFIG, UnitTestCase

NAME = "web2.example.com"


@implementer(INodeRpc)
@define
class OneNode(FakeNodeRpc):
    """Calls go over the wire's bytes to a node's real dispatch; how much memory the machine has is made up."""

    storage: FakeStorage = field(factory=FakeStorage)
    files: MemoryFiles = field(factory=MemoryFiles)
    paths: Paths = field(factory=Paths)
    dispatch: NodeDispatch = field(init=False)

    def __attrs_post_init__(self) -> None:
        disks = Disks(only(self.storage), DiskLinks(self.files, self.paths))
        clock = Clock()
        hypervisors = {"fake": FakeHypervisor(MemoryFiles(), Paths(Path("/")), clock.seconds)}
        order = CallOrder(Terms(MemoryFiles(), Paths(Path("/"))))
        self.dispatch = NodeDispatch(
            disks, Instances(hypervisors, disks, "node1.example.com"), self, order=order.perform
        )

    @answers(NodeInfo)
    async def info(self, call: NodeInfo) -> NodeFacts:
        """Memory that is made up."""
        return NodeFacts(boot_id="", storage=[], hypervisors={"fake": {"memory_free": 1024}})

    def links(self) -> list[str]:
        """The stable names of disks that are ready."""
        return self.files.listdir(self.paths.instance_disks_dir)

    async def perform(self, node: str, call: NodeCall[object]) -> object:
        """By the node's own method."""
        return await self.dispatch.perform(call)


class LifeTests(UnitTestCase):
    """What the units ask is what the node understands."""

    initial = replace(
        CONFIG,
        cluster=replace(CONFIG.cluster, enabled_hypervisors=(Hypervisor.FAKE,)),
        instances={},
        disks={},
    )

    def setUp(self) -> None:
        super().setUp()
        self.node = OneNode()
        self.stage.nodes = self.node

    def create(self, **changes: Any) -> OpInstanceCreate:
        """A request that is fine, with some changes."""
        given: dict[str, Any] = {
            "instance_name": "web2",
            "mode": InstanceCreateMode.CREATE,
            "disks": ({"size": 2048},),
            "disk_template": DiskTemplate.FILE,
            "nics": (),
            "no_install": True,
            "pnode": "node1",
            "ignore_ipolicy": True,
            **changes,
        }
        return OpInstanceCreate(**given)

    def state(self) -> str:
        """What the node says of the instance."""
        return str(self.run_op(OpInstanceQueryData(instances=(NAME,)))[NAME]["run_state"])

    def test_a_whole_life(self) -> None:
        """Made, started, restarted, stopped, removed; afterwards the node holds nothing of it."""
        self.run_op(self.create())
        self.assertEqual([disk.size for disk in self.node.storage.disks.values()], [2048])
        self.assertEqual(self.state(), "down")
        self.run_op(OpInstanceStartup(instance_name="web2"))
        self.assertEqual(self.state(), "up")
        for kind in RebootType:
            self.run_op(OpInstanceReboot(instance_name="web2", reboot_type=kind))
            self.assertEqual(self.state(), "up")
        self.assertEqual(self.node.links(), [f"{NAME}:0"])
        self.run_op(OpInstanceShutdown(instance_name="web2"))
        self.assertEqual(self.state(), "down")
        self.assertEqual(self.node.links(), [])
        self.run_op(OpInstanceRemove(instance_name="web2"))
        self.assertEqual(self.node.storage.disks, {})
        self.assertEqual(dict(self.stage.snapshot.instances), {})

    def test_cannot_start_again(self) -> None:
        """One that is to be stopped and started goes on running where it could not be started."""
        self.run_op(self.create())
        self.run_op(OpInstanceStartup(instance_name="web2"))

        async def refuse(_hypervisor: FakeHypervisor, _hvparams: Mapping[str, Any]) -> None:
            raise HypervisorError("there is no user ghost")

        self.patch(FakeHypervisor, "validate", refuse)
        for kind, error in ((RebootType.HARD, OpExecError), (RebootType.FULL, OpPrereqError)):
            op = OpInstanceReboot(instance_name="web2", reboot_type=kind)
            self.assertIn("there is no user ghost", self.refused(op, error))
            self.assertEqual(self.state(), "up")
        self.run_op(OpInstanceReboot(instance_name="web2", reboot_type=RebootType.SOFT))

    def test_no_room_for_the_second_disk(self) -> None:
        """The first disk is gone again from the node, and the configuration never had the instance."""

        def second(operation: str, disk: DiskSpec) -> BlockDeviceError | None:
            return BlockDeviceError("no room") if (operation, disk.index) == ("create", 1) else None

        self.node.storage.fault = second
        text = self.refused(self.create(disks=({"size": 2048}, {"size": 1024})), OpExecError)
        self.assertIn("no room", text)
        self.assertEqual(self.node.storage.disks, {})
        self.assertEqual(dict(self.stage.snapshot.instances), {})
