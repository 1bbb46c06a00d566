"""What those are told who have disks made ready by hand, on a stage."""

from ganeti_tx.model import opcodes as ops
from ganeti_tx.rpc.calls.disk import AssembledDisk, BlockdevAssemble
from ganeti_tx.test.logic.stage import INSTANCE, UnitTestCase

URI = "rbd:rbd/u.rbd.disk0"


class ReadyTests(UnitTestCase):
    """Where their disk is on its node."""

    def told(self, path: str, uri: str | None) -> str:
        """Of a disk that the node has as this."""
        self.nodes.answer(BlockdevAssemble, AssembledDisk(path=path, uri=uri))
        op = ops.decode({"OP_ID": "OP_INSTANCE_ACTIVATE_DISKS", "instance_name": INSTANCE.name})
        [[_, name, where]] = self.successResultOf(self.stage.run(op))
        self.assertEqual(name, "disk/0")
        return str(where)

    def test_where(self) -> None:
        """Its device, whatever a hypervisor opens instead; the URI of what has none."""
        self.assertEqual(self.told("/dev/rbd0", None), "/dev/rbd0")
        self.assertEqual(self.told("/dev/rbd0", URI), "/dev/rbd0")
        self.assertEqual(self.told("", URI), URI)
