"""A mirrored instance's life through the units and the real node calls, on two nodes whose mirrors lie in memory."""

from pathlib import Path
from typing import Any

from attrs import define, field
from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from zope.interface import implementer

from ganeti_tx.errors import OpExecError
from ganeti_tx.jobs.taking_back import TakingBack
from ganeti_tx.logic.disks.make import create_disks, creations
from ganeti_tx.logic.steps import Steps
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes import (
    OpInstanceQueryData,
    OpInstanceReboot,
    OpInstanceRemove,
    OpInstanceShutdown,
    OpInstanceStartup,
)
from ganeti_tx.model.opcodes.types import RebootType
from ganeti_tx.node.answers import answers
from ganeti_tx.node.call_order import CallOrder
from ganeti_tx.node.disks import Disks
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.hypervisor.fake.driver import FakeHypervisor
from ganeti_tx.node.instances import Instances
from ganeti_tx.node.mirrors import Mirrors
from ganeti_tx.node.storage.links import DiskLinks
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo
from ganeti_tx.rpc.interfaces import INodeRpc
from ganeti_tx.rpc.wire import encode_call
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.mirror_node import MirrorNode
from ganeti_tx.test.fakes.mirror_wire import MirrorWire
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.logic.stage import CONFIG, INSTANCE, UnitTestCase
from ganeti_tx.test.model.samples import DISK, META, VOLUME

NAME = INSTANCE.name


@define
class Home:
    """One node: its storages, its hypervisor, and the real methods of node calls."""

    name: str
    storage: MirrorNode
    files: MemoryFiles = field(factory=MemoryFiles)
    paths: Paths = field(factory=Paths)
    dispatch: NodeDispatch = field(init=False)

    def __attrs_post_init__(self) -> None:
        disks = Disks(self.storage.tree(), DiskLinks(self.files, self.paths))
        hypervisors = {"fake": FakeHypervisor(MemoryFiles(), Paths(Path("/")), Clock().seconds)}
        order = CallOrder(Terms(MemoryFiles(), Paths(Path("/"))))
        mirrors = Mirrors(disks.tree, disks.links)
        self.dispatch = NodeDispatch(
            disks, mirrors, Instances(hypervisors, disks, self.name), self, order=order.perform
        )

    @answers(NodeInfo)
    async def info(self, call: NodeInfo) -> NodeFacts:
        """Memory that is made up."""
        return NodeFacts(boot_id="", storage=[], hypervisors={"fake": {"memory_free": 4096}})

    def links(self) -> list[str]:
        """The stable names of disks that are ready for an instance."""
        directory = self.paths.instance_disks_dir
        return self.files.listdir(directory) if self.files.exists(directory) else []


@implementer(INodeRpc)
@define
class Homes(FakeNodeRpc):
    """Calls go over the wire's bytes to the nodes' real dispatch."""

    homes: dict[str, Home] = field(factory=dict)

    async def perform(self, node: str, call: NodeCall[object]) -> object:
        """By that node's own method."""
        return await self.homes[node].dispatch.perform(call)


class MirroredInstanceTests(UnitTestCase):
    """It is configured; its mirror is made on both nodes as a creation makes it."""

    initial = replace(
        CONFIG,
        cluster=replace(CONFIG.cluster, enabled_hypervisors=(Hypervisor.FAKE,)),
        instances={
            INSTANCE.uuid: replace(INSTANCE, hypervisor=Hypervisor.FAKE, hvparams={}, nics=(), network_port=None)
        },
        disks={DISK.uuid: DISK},
    )

    def setUp(self) -> None:
        super().setUp()
        self.clock = Clock()
        self.wire = MirrorWire(self.clock.seconds, rate=128.0)
        nodes = sorted(self.initial.nodes.values(), key=lambda node: node.name)
        self.first, self.second = (Home(node.name, MirrorNode(node.secondary_ip, self.wire)) for node in nodes)
        self.stage.nodes = Homes(homes={home.name: home for home in (self.first, self.second)})
        self.make()

    def view(self) -> InstanceView:
        """The instance as it is configured."""
        return self.successResultOf(Deferred.fromCoroutine(self.stage.config.instance_view(NAME)))

    def make(self) -> None:
        """Its disks, on all their nodes."""
        self.successResultOf(Deferred.fromCoroutine(create_disks(self.stage.nodes, self.view(), self.steps())))

    def steps(self) -> Steps:
        """Those that create them."""
        take_back = TakingBack(self.stage.config, self.stage.nodes, self.clock)
        return Steps(lambda entry: None, self.stage.feedback.append, take_back, plan=creations(self.view()))

    def volumes(self) -> list[list[str]]:
        """What there is, by node."""
        return [sorted(home.storage.volumes.disks) for home in (self.first, self.second)]

    def ready(self) -> list[list[str]]:
        """The devices that are ready, by node."""
        return [sorted(home.storage.devices.behind) for home in (self.first, self.second)]

    def start(self) -> None:
        """Start it, and let its mirror be filled."""
        self.run_op(OpInstanceStartup(instance_name=NAME))
        self.clock.advance(1000)

    def states(self) -> list[list[Any]]:
        """What gnt-instance info has of the disk on each node."""
        (disk,) = self.run_op(OpInstanceQueryData(instances=(NAME,)))[NAME]["disks"]
        return [disk["pstatus"], disk["sstatus"]]

    def test_made(self) -> None:
        """Data and metadata are on both nodes, and nothing is ready yet."""
        names = [f"{child.logical_id[0]}/{child.logical_id[1]}" for child in (VOLUME, META) if child.logical_id]
        self.assertEqual(self.volumes(), [sorted(names)] * 2)
        self.assertEqual(self.ready(), [[], []])

    def test_a_whole_life(self) -> None:
        """Up on both nodes, primary on one; told as it is filled; down on both; gone from both."""
        self.run_op(OpInstanceStartup(instance_name=NAME))
        self.assertEqual((self.first.links(), self.second.links()), ([f"{NAME}:0"], []))
        self.assertEqual([len(devices) for devices in self.ready()], [3, 3])
        self.clock.advance(4)
        self.assertEqual(self.states(), [
            ["/dev/drbd0", 147, 0, 50.0, 4.0, True, 1], ["/dev/drbd1", 147, 1, 50.0, 4.0, True, 2],
        ])  # fmt: skip
        self.clock.advance(4)
        self.assertEqual(self.states(), [
            ["/dev/drbd0", 147, 0, None, None, False, 1], ["/dev/drbd1", 147, 1, None, None, False, 1],
        ])  # fmt: skip
        self.run_op(OpInstanceShutdown(instance_name=NAME))
        self.assertEqual((self.ready(), self.first.links()), ([[], []], []))
        self.run_op(OpInstanceRemove(instance_name=NAME))
        self.assertEqual(self.volumes(), [[], []])

    def test_reboot(self) -> None:
        """A full reboot takes the mirror down and up on both nodes."""
        self.start()
        self.run_op(OpInstanceReboot(instance_name=NAME, reboot_type=RebootType.FULL))
        self.assertEqual([len(devices) for devices in self.ready()], [3, 3])
        self.assertEqual([state[5] for state in self.states()], [False, False])

    def test_secondary_offline(self) -> None:
        """Without its secondary node a mirror that is filled starts, with a warning, and is degraded."""
        self.start()
        self.run_op(OpInstanceShutdown(instance_name=NAME))
        node = next(node for node in self.initial.nodes.values() if node.name == self.second.name)
        self.successResultOf(
            Deferred.fromCoroutine(self.stage.config.update_node(replace(node, offline=True, master_candidate=False)))
        )
        self.run_op(OpInstanceStartup(instance_name=NAME))
        self.assertIn("disk/0 is not made ready on node", " ".join(self.stage.feedback))
        self.assertEqual((self.states()[0][5], self.ready()[1]), (True, []))

    def test_secondary_broken(self) -> None:
        """A secondary node that cannot make the mirror ready keeps the instance from starting, unless it is not waited for."""
        self.start()
        self.run_op(OpInstanceShutdown(instance_name=NAME))
        for volume in self.second.storage.volumes.disks.values():
            volume.notes = None
        text = self.refused(OpInstanceStartup(instance_name=NAME), OpExecError)
        self.assertIn(f"could not make disk/0 of instance {NAME} ready", text)
        self.assertEqual(self.first.links(), [])
        self.run_op(OpInstanceStartup(instance_name=NAME, force=True))
        self.assertIn("WARNING: could not make disk/0 ready on node", " ".join(self.stage.feedback))
        reboot = OpInstanceReboot(instance_name=NAME, reboot_type=RebootType.FULL)
        self.assertIn("could not make disk/0", self.refused(reboot, OpExecError))
        self.run_op(replace(reboot, ignore_secondaries=True))

    def test_no_room_on_the_second_node(self) -> None:
        """A creation that fails on the second node takes back what it made on the first."""
        self.run_op(OpInstanceRemove(instance_name=NAME))
        self.stage = self.make_stage(self.initial)
        self.stage.nodes = Homes(homes={home.name: home for home in (self.first, self.second)})
        self.second.storage.volumes.total = 1100  # the data fit, the metadata do not

        async def create() -> None:
            async with self.steps() as steps:
                await create_disks(self.stage.nodes, self.view(), steps)

        failed = self.failureResultOf(Deferred.fromCoroutine(create()), OpExecError)
        self.assertIn("MiB free", str(failed.value))
        self.assertEqual(self.volumes(), [[], []])

    def test_no_secret_is_sent_to_remove(self) -> None:
        """Calls that need no secret carry none."""
        self.start()
        for op in (OpInstanceShutdown(instance_name=NAME), OpInstanceRemove(instance_name=NAME)):
            before = len(self.stage.nodes.sent)
            self.run_op(op)
            for _, call in self.stage.nodes.sent[before:]:
                self.assertNotIn(b"s3cret", encode_call(call), call.name)
