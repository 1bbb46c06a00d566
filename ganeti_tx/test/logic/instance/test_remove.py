"""Tests of deleting instances."""

from msgspec.structs import replace

from ganeti_tx.errors import OpExecError
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.opcodes import OpInstanceRemove
from ganeti_tx.rpc.calls.disk import BlockdevRemove
from ganeti_tx.rpc.calls.instance import InstanceForget
from ganeti_tx.rpc.calls.instance import InstanceShutdown as ShutdownCall
from ganeti_tx.rpc.calls.kept import KeptOwners
from ganeti_tx.test.logic.stage import CONFIG, INSTANCE, UnitTestCase


class RemoveTests(UnitTestCase):
    """OP_INSTANCE_REMOVE."""

    def test_removes(self) -> None:
        """Stopped, its disks removed, forgotten, and its port is free again."""
        self.run_op(OpInstanceRemove(instance_name="web1", shutdown_timeout=3))
        self.assertEqual(self.nodes.kinds(), [*["kept_owners"] * 2, "instance_shutdown", "blockdev_remove"])
        self.assertEqual(self.nodes.of_kind(ShutdownCall)[0].shutdown_timeout, 3)
        self.assertEqual(dict(self.stage.snapshot.instances), {})
        self.assertEqual(dict(self.stage.snapshot.disks), {})
        self.assertIn(INSTANCE.network_port, self.stage.snapshot.cluster.tcpudp_port_pool)

    def test_cannot_be_stopped(self) -> None:
        """Nothing is removed from an instance that may run."""
        self.nodes.fail(ShutdownCall, "stuck")
        self.assertIn("stuck", self.refused(OpInstanceRemove(instance_name="web1"), OpExecError))
        self.assertEqual(self.stage.snapshot.instances[INSTANCE.uuid], INSTANCE)
        self.assertEqual(self.nodes.of_kind(BlockdevRemove), [])

    def test_disks_that_stay(self) -> None:
        """It stays in the configuration, down, so that the removal can be repeated."""
        self.nodes.fail(BlockdevRemove, "busy")
        refused = self.refused(OpInstanceRemove(instance_name="web1"), OpExecError)
        self.assertIn("disks", refused)
        self.assertIn("--ignore-failures", refused)
        self.assertIs(self.stage.snapshot.instances[INSTANCE.uuid].admin_state, AdminState.DOWN)
        self.assertIn("busy", self.stage.feedback[-1])

    def test_firmware(self) -> None:
        """What its node keeps of an instance beside its disks is removed, too; a node that does not answer is told of."""
        firm = replace(INSTANCE, hvparams={**INSTANCE.hvparams, "uefi": True})
        for knows, answer in ((True, None), (True, "gone"), (False, None)):
            self.stage = self.make_stage(replace(CONFIG, instances={firm.uuid: firm}))
            nodes = self.stage.nodes
            nodes.answers[KeptOwners] = lambda node, call: [firm.uuid] if node.startswith("node1") else []
            if not knows:
                nodes.fail(KeptOwners, "a call that its version does not know")
            if answer:
                nodes.fail(InstanceForget, answer)
            self.run_op(OpInstanceRemove(instance_name="web1"))
            forgotten = [node for node, call in nodes.sent if isinstance(call, InstanceForget)]
            self.assertEqual(forgotten, ["node1.example.com"])
            self.assertEqual(dict(self.stage.snapshot.instances), {})
            self.assertEqual("gone" in " ".join(self.stage.feedback), answer == "gone")

    def test_failures_ignored(self) -> None:
        """It is forgotten all the same, with warnings."""
        self.nodes.fail(ShutdownCall, "stuck")
        self.nodes.fail(BlockdevRemove, "busy")
        self.run_op(OpInstanceRemove(instance_name="web1", ignore_failures=True))
        self.assertEqual(dict(self.stage.snapshot.instances), {})
        warnings = [line for line in self.stage.feedback if "WARNING" in line]
        self.assertTrue(any("stuck" in line for line in warnings))
        self.assertTrue(any("busy" in line for line in warnings))
