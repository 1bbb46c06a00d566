"""Tests of finding consoles."""

from msgspec.structs import replace

from ganeti_tx.errors import OpExecError
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.opcodes import OpInstanceConsole
from ganeti_tx.rpc.calls.instance import InstanceConsole as ConsoleCall
from ganeti_tx.rpc.calls.instance import InstanceInfo
from ganeti_tx.test.logic.stage import CONFIG, INSTANCE, RUNNING, UnitTestCase


class ConsoleTests(UnitTestCase):
    """OP_INSTANCE_CONSOLE."""

    def test_where_it_is(self) -> None:
        """What the node says is the answer; the instance is locked with others."""
        self.nodes.answer(InstanceInfo, RUNNING)
        self.nodes.answer(ConsoleCall, {"instance": "web1.example.com", "kind": "ssh"})
        self.assertEqual(self.run_op(OpInstanceConsole(instance_name="web1"))["kind"], "ssh")
        self.assertEqual(self.stage.locked["instance/web1.example.com"], "shared")

    def test_not_running(self) -> None:
        """The error tells the state: wanted so, or not."""
        self.assertIn("ADMIN_down", self.refused(OpInstanceConsole(instance_name="web1"), OpExecError))
        wanted = replace(INSTANCE, admin_state=AdminState.UP)
        self.stage = self.make_stage(replace(CONFIG, instances={wanted.uuid: wanted}))
        self.assertIn("ERROR_down", self.refused(OpInstanceConsole(instance_name="web1"), OpExecError))
