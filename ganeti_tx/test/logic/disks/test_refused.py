"""What the units for disks refuse on a stage: nothing is done by then."""

from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model import opcodes as ops
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.rpc.calls.instance import InstanceInfo
from ganeti_tx.test.logic.stage import CONFIG, FILE_DISK, INSTANCE, RUNNING, UnitTestCase

WEB1 = INSTANCE.name
DEVICE = Disk(
    serial_no=1,
    uuid=FILE_DISK.uuid,
    dev_type=DiskTemplate.BLOCKDEV,
    logical_id=("manual", "/dev/disk/by-id/one"),
    size=1024,
    iv_name="disk/0",
)


def asked(op_id: str, **params: Any) -> OpCode:
    """A request as clients write it."""
    return ops.decode({"OP_ID": op_id, "instance_name": WEB1, **params})


class RefusalTests(UnitTestCase):
    """By what there is; each table has the request, and what is said."""

    def assert_refused(self, op: OpCode, reason: str, code: ECode) -> None:
        """It is, in these words, and nothing was written."""
        before = self.stage.snapshot
        failed = self.failureResultOf(self.stage.run(op), OpPrereqError).value
        self.assertRegex(str(failed), reason)
        self.assertIn(code, failed.args)
        self.assertIs(self.stage.snapshot, before)
        self.assertEqual(self.stage.kept, [])

    def test_devices(self) -> None:
        """Devices that were there already neither grow nor are made anew, nor have a second copy to replace."""
        self.stage = self.make_stage(replace(CONFIG, disks={DEVICE.uuid: DEVICE}))
        grow = asked("OP_INSTANCE_GROW_DISK", disk=0, amount=64)
        self.assert_refused(grow, "cannot grow: disks of template blockdev have a fixed size", ECode.INVAL)
        again = asked("OP_INSTANCE_RECREATE_DISKS")
        self.assert_refused(again, "cannot be made anew: .* devices that are there already", ECode.INVAL)
        new = asked("OP_INSTANCE_REPLACE_DISKS", mode="replace_on_primary")
        self.assert_refused(new, "strange layout", ECode.FAULT)

    def test_running(self) -> None:
        """What runs though it is marked down keeps its disks."""
        self.nodes.answer(InstanceInfo, RUNNING)
        for op_id in ("OP_INSTANCE_DEACTIVATE_DISKS", "OP_INSTANCE_RECREATE_DISKS"):
            self.assert_refused(asked(op_id), "is running", ECode.STATE)

    def test_options(self) -> None:
        """What goes together only with a new second node."""
        for more in ({"remote_node": "node2"}, {"iallocator": "hail"}):
            op = asked("OP_INSTANCE_REPLACE_DISKS", mode="replace_on_primary", **more)
            self.assert_refused(op, "can only be used when changing the secondary node", ECode.INVAL)
        both = asked("OP_INSTANCE_REPLACE_DISKS", mode="replace_new_secondary", remote_node="node2", iallocator="hail")
        self.assert_refused(both, "not both", ECode.INVAL)

    def test_mode_of_a_recreated_disk(self) -> None:
        """Only ro and rw."""
        op = asked("OP_INSTANCE_RECREATE_DISKS", disks=[[0, {"mode": "wx"}]])
        self.assert_refused(op, "mode 'wx' is not allowed; allowed are ro, rw", ECode.INVAL)
