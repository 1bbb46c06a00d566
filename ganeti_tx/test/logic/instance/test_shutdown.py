"""Tests of stopping instances."""

from msgspec.structs import replace

from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.model.enums import AdminState, AdminStateSource
from ganeti_tx.model.opcodes import OpInstanceShutdown
from ganeti_tx.rpc.calls.disk import BlockdevShutdown
from ganeti_tx.rpc.calls.instance import InstanceShutdown as ShutdownCall
from ganeti_tx.test.logic.stage import CONFIG, INSTANCE, UnitTestCase

UP = replace(INSTANCE, admin_state=AdminState.UP, disks_active=True)


class ShutdownTests(UnitTestCase):
    """OP_INSTANCE_SHUTDOWN."""

    initial = replace(CONFIG, instances={UP.uuid: UP})

    def test_stops(self) -> None:
        """The node stops it within the given time and takes its disks down; the configuration says down."""
        self.run_op(OpInstanceShutdown(instance_name="web1", timeout=7))
        (call,) = self.nodes.of_kind(ShutdownCall)
        self.assertEqual((call.instance_name, call.hypervisor, call.shutdown_timeout), ("web1.example.com", "kvm", 7))
        self.assertEqual(self.nodes.kinds(), ["instance_shutdown", "blockdev_shutdown"])
        after = self.stage.snapshot.instances[UP.uuid]
        self.assertEqual((after.admin_state, after.disks_active), (AdminState.DOWN, False))

    def test_told(self) -> None:
        """What the node says of one that did not end as it was asked to reaches the operator."""
        self.nodes.answer(ShutdownCall, "instance web1 was ended by signals: its script exited with status 1")
        self.run_op(OpInstanceShutdown(instance_name="web1"))
        self.assertEqual(
            self.stage.feedback[-1],
            "- WARNING: node node1.example.com: instance web1 was ended by signals: its script exited with status 1",
        )

    def test_who_decided(self) -> None:
        """The source of the state is kept."""
        self.run_op(OpInstanceShutdown(instance_name="web1", admin_state_source=AdminStateSource.USER))
        self.assertIs(self.stage.snapshot.instances[UP.uuid].admin_state_source, AdminStateSource.USER)

    def test_not_remembered(self) -> None:
        """With no_remember it is stopped and still wanted up."""
        self.run_op(OpInstanceShutdown(instance_name="web1", no_remember=True))
        self.assertIs(self.stage.snapshot.instances[UP.uuid].admin_state, AdminState.UP)
        self.assertIn("instance_shutdown", self.nodes.kinds())

    def test_failure_is_taken_back(self) -> None:
        """What may still run is not said to be down, and its disks stay."""
        self.nodes.fail(ShutdownCall, "does not listen")
        self.assertIn("does not listen", self.refused(OpInstanceShutdown(instance_name="web1"), OpExecError))
        after = self.stage.snapshot.instances[UP.uuid]
        self.assertEqual((after.admin_state, after.disks_active), (AdminState.UP, True))
        self.assertEqual(self.nodes.of_kind(BlockdevShutdown), [])

    def test_disks_that_stay_up(self) -> None:
        """A disk that cannot be taken down is a warning: the instance is stopped."""
        self.nodes.fail(BlockdevShutdown, "busy")
        self.run_op(OpInstanceShutdown(instance_name="web1"))
        self.assertIn("WARNING", self.stage.feedback[-1])
        self.assertIn("busy", self.stage.feedback[-1])

    def test_marked_offline(self) -> None:
        """One that is marked offline is refused; by force it is stopped and stays offline."""
        marked = replace(UP, admin_state=AdminState.OFFLINE)
        self.stage = self.make_stage(replace(CONFIG, instances={marked.uuid: marked}))
        self.refused(OpInstanceShutdown(instance_name="web1"), OpPrereqError)
        self.run_op(OpInstanceShutdown(instance_name="web1", force=True))
        self.assertTrue(self.stage.nodes.of_kind(ShutdownCall)[0].force)
        self.assertIs(self.stage.snapshot.instances[marked.uuid].admin_state, AdminState.OFFLINE)
