"""Tests of restarting instances."""

from msgspec.structs import replace

from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.opcodes import OpInstanceReboot
from ganeti_tx.model.opcodes.types import RebootType
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.rpc.calls.disk import BlockdevStates, DiskState
from ganeti_tx.rpc.calls.instance import InstanceInfo
from ganeti_tx.rpc.calls.instance import InstanceReboot as RebootCall
from ganeti_tx.rpc.calls.node import BridgesExist
from ganeti_tx.test.logic.stage import CONFIG, FILE_DISK, INSTANCE, RUNNING, UnitTestCase


class RebootTests(UnitTestCase):
    """OP_INSTANCE_REBOOT."""

    def test_soft_and_hard(self) -> None:
        """They are one call, which carries the kind and the time for the guest."""
        self.nodes.answer(InstanceInfo, RUNNING)
        for kind in (RebootType.SOFT, RebootType.HARD):
            self.run_op(OpInstanceReboot(instance_name="web1", reboot_type=kind, shutdown_timeout=9))
            call = self.nodes.of_kind(RebootCall)[-1]
            self.assertEqual((call.reboot_type, call.shutdown_timeout), (kind.value, 9))
        self.assertIs(self.stage.snapshot.instances[INSTANCE.uuid].admin_state, AdminState.UP)

    def test_full(self) -> None:
        """The disks go down and up as well."""
        self.nodes.answer(InstanceInfo, RUNNING)
        self.run_op(OpInstanceReboot(instance_name="web1", reboot_type=RebootType.FULL))
        self.assertEqual(self.nodes.kinds()[-3:], ["instance_shutdown", "blockdev_shutdown", "instance_start"])

    def test_told(self) -> None:
        """What the node says of one that did not end as it was asked to reaches the operator."""
        self.nodes.answer(InstanceInfo, RUNNING)
        self.nodes.answer(RebootCall, "its script failed")
        self.run_op(OpInstanceReboot(instance_name="web1", reboot_type=RebootType.HARD))
        self.assertIn("node node1.example.com: its script failed", self.stage.feedback[-1])

    def test_one_that_is_down(self) -> None:
        """It is started, whatever the kind."""
        self.run_op(OpInstanceReboot(instance_name="web1", reboot_type=RebootType.SOFT))
        self.assertEqual(self.nodes.kinds()[-1], "instance_start")
        self.assertEqual(self.nodes.of_kind(RebootCall), [])
        self.assertIn("already stopped", self.stage.feedback[-1])

    def test_failure(self) -> None:
        """The configuration does not say up when the restart failed."""
        self.nodes.answer(InstanceInfo, RUNNING)
        self.nodes.fail(RebootCall, "stuck")
        op = OpInstanceReboot(instance_name="web1", reboot_type=RebootType.HARD)
        self.assertIn("stuck", self.refused(op, OpExecError))
        self.assertEqual(self.stage.snapshot.instances[INSTANCE.uuid], INSTANCE)

    def test_missing_bridge(self) -> None:
        """Nothing is stopped when it could not be started again."""
        self.nodes.answer(InstanceInfo, RUNNING)
        self.nodes.fail(BridgesExist, "bridges missing: xen-br0")
        op = OpInstanceReboot(instance_name="web1", reboot_type=RebootType.HARD)
        self.assertIn("xen-br0", self.refused(op, OpPrereqError))
        self.assertEqual(replace(self.stage.snapshot.instances[INSTANCE.uuid]), INSTANCE)


class ImageTests(UnitTestCase):
    """Whose disk is an image of format qcow2."""

    initial = replace(CONFIG, disks={FILE_DISK.uuid: replace(FILE_DISK, params={"format": "qcow2"})})

    def test_unreadable(self) -> None:
        """It is not stopped when its file is something else."""
        self.nodes.answer(InstanceInfo, RUNNING)
        self.nodes.answer(BlockdevStates, [DiskState(fault="it is no image of format qcow2")])
        op = OpInstanceReboot(instance_name="web1", reboot_type=RebootType.FULL)
        said = self.refused(op, OpPrereqError)
        self.assertIn("could not be started again with its disk/0: it is no image of format qcow2", said)
        self.assertNotIn("instance_shutdown", self.nodes.kinds())
        self.nodes.answer(BlockdevStates, [DiskState(status=BlockDevStatus(dev_path="/srv/disk0", size=1024))])
        self.run_op(op)
        self.assertEqual(self.nodes.kinds()[-1], "instance_start")
