"""Wiping: a part of a disk is filled with zeros, and nothing beside it."""

from pathlib import Path
from tempfile import mkdtemp

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import TestCase

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.tree import DeviceTree
from ganeti_tx.node.wiping import Wiping, wipe_argv
from ganeti_tx.rpc.calls.disk import BlockdevWipe
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.test.fakes.mirror_node import MirrorNode, volume_spec
from ganeti_tx.test.fakes.mirror_wire import MirrorWire
from ganeti_tx.test.fakes.process import FakeProcessRunner

MIB = 1 << 20


class WipingTests(TestCase):
    """With the real program, and with one that fails."""

    def node(self, result: ProcessResult) -> tuple[Wiping, DiskSpec]:
        """One with a volume of 8 MiB."""
        home = MirrorNode("198.51.100.1", MirrorWire(Clock().seconds))
        disk = volume_spec("data", 8)
        tree: DeviceTree = home.tree()
        self.successResultOf(Deferred.fromCoroutine(tree.create(disk, "web1")))
        runner = FakeProcessRunner()
        runner.script(["dd"], result)
        return Wiping(tree, runner), disk

    def test_refused(self) -> None:
        """Nothing is written beyond a disk's end; a program that fails is told of."""
        node, disk = self.node(ProcessResult(status=1, stderr=b"dd: no space\n"))
        for offset, size, why in ((0, 9, "it has 8 MiB"), (-1, 2, "8 MiB"), (8, 1, "8 MiB"), (0, 8, "no space")):
            call = BlockdevWipe(disk=disk, offset=offset, size=size)
            failed = self.failureResultOf(Deferred.fromCoroutine(node.wipe(call)), BlockDeviceError)
            self.assertIn(why, str(failed.value))

    def test_zeros(self) -> None:
        """What lies before and behind stays, and so does the size."""
        path = Path(mkdtemp()) / "disk"
        path.write_bytes(b"x" * 4 * MIB)
        runner = ReactorProcessRunner(reactor, reactor)
        ended = runner.run(wipe_argv(str(path), 1, 2))

        def look(result: ProcessResult) -> None:
            self.assertTrue(result.succeeded, result.describe())
            self.assertEqual(path.read_bytes(), b"x" * MIB + bytes(2 * MIB) + b"x" * MIB)

        return ended.addCallback(look)  # type: ignore[return-value]
