"""Two nodes whose mirrors lie on volumes upon files, asked by node calls as they go over the wire."""

from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BlockDeviceError, GanetiError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.disks import Disks
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.mirrors import Mirrors
from ganeti_tx.node.storage.links import DiskLinks
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevCreate
from ganeti_tx.rpc.wire import decode_call, encode_call
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.mirror_node import MirrorNode, mirror_spec
from ganeti_tx.test.fakes.mirror_wire import MirrorWire

R = TypeVar("R")

ADDRESSES = ("198.51.100.1", "198.51.100.2")
OWNER = "web1.example.com"
LINK = f"{OWNER}:0"


class DiskCase(SynchronousTestCase):
    """The first node is the primary one."""

    def setUp(self) -> None:
        self.clock, self.paths = Clock(), Paths()
        self.wire = MirrorWire(self.clock.seconds)
        self.homes = [MirrorNode(address, self.wire) for address in ADDRESSES]
        self.files = [MemoryFiles() for _ in self.homes]
        self.disks = [
            Disks(home.tree(), DiskLinks(files, self.paths)) for home, files in zip(self.homes, self.files, strict=True)
        ]
        self.nodes = [NodeDispatch(disks, Mirrors(disks.tree, disks.links)) for disks in self.disks]

    def perform(self, node: int, call: NodeCall[R]) -> Deferred[Any]:
        """Have a node do a call that came to it as bytes."""
        return Deferred.fromCoroutine(self.nodes[node].perform(decode_call(type(call), encode_call(call))))

    def call(self, node: int, call: NodeCall[R]) -> Any:
        """Its answer."""
        return self.successResultOf(self.perform(node, call))

    def refused(self, node: int, call: NodeCall[R], kind: type[GanetiError] = BlockDeviceError) -> str:
        """Its one line."""
        text = str(self.failureResultOf(self.perform(node, call), kind).value)
        self.assertNotIn("\n", text)
        return text

    def file(self, number: int = 0, size: int = 8) -> DiskSpec:
        """A disk that is a file."""
        path = f"/srv/{OWNER}/disk{number}"
        return DiskSpec(uuid=f"f{number}", dev_type="file", size=size, logical_id=["loop", path], index=number)

    def mirror(self, node: int) -> DiskSpec:
        """The mirror, as one of its nodes knows it."""
        return mirror_spec(ADDRESSES, node)

    def links(self, node: int = 0) -> dict[str, str]:
        """Stable names, and what they lead to."""
        directory, files = self.paths.instance_disks_dir, self.files[node]
        names = files.listdir(directory) if files.exists(directory) else []
        return {name: files.readlink(directory / name) for name in names}

    def create(self, node: int, disk: DiskSpec) -> None:
        """As a unit has it made."""
        self.call(node, BlockdevCreate(disk=disk, owner=OWNER))

    def assemble(self, node: int, disk: DiskSpec) -> Any:
        """As a unit has it made ready."""
        return self.call(node, BlockdevAssemble(disk=disk, owner=OWNER, hypervisor="kvm", on_primary=node == 0))

    def mirrored(self) -> None:
        """A mirror that is ready and alike on both nodes."""
        for node in (1, 0):
            self.create(node, self.mirror(node))
        for node in (1, 0):
            self.assemble(node, self.mirror(node))
        self.clock.advance(1000)
