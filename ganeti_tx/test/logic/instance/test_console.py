"""Tests of finding consoles."""

from msgspec.structs import replace

from ganeti_tx.errors import OpExecError, ResultValidationError
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.opcodes import OpInstanceConsole
from ganeti_tx.own_modules import module_argv
from ganeti_tx.rpc.calls.instance import InstanceConsole as ConsoleCall
from ganeti_tx.rpc.calls.instance import InstanceInfo
from ganeti_tx.test.logic.stage import CONFIG, INSTANCE, RUNNING, UnitTestCase

SERIAL = module_argv("ganeti_tx.console", "/run/web1.serial")


class ConsoleTests(UnitTestCase):
    """OP_INSTANCE_CONSOLE."""

    def test_where_it_is(self) -> None:
        """The node says which command it is; the instance is locked with others."""
        self.nodes.answer(InstanceInfo, RUNNING)
        self.nodes.answer(ConsoleCall, {"kind": "ssh", "command": SERIAL})
        found = self.run_op(OpInstanceConsole(instance_name="web1"))
        wanted = {"kind": "ssh", "user": "root", "command": SERIAL}
        self.assertEqual(found, {"instance": "web1.example.com", "host": "node1.example.com", **wanted})
        self.assertEqual(self.stage.locked["instance/web1.example.com"], "shared")

    def test_named(self) -> None:
        """What the node has people told of itself has its name."""
        self.nodes.answer(InstanceInfo, RUNNING)
        self.nodes.answers[ConsoleCall] = lambda node, call: {
            "kind": "msg",
            "message": f"on {call.instance.primary_node}",
        }
        self.assertEqual(self.run_op(OpInstanceConsole(instance_name="web1"))["message"], "on node1.example.com")

    def test_untrue(self) -> None:
        """Nobody is told to run the node's own words, or to run them elsewhere."""
        self.nodes.answer(InstanceInfo, RUNNING)
        lie = {"kind": "ssh", "host": "node2.example.com", "user": "-oProxyCommand=id", "command": ["sh", "-c", "id"]}
        self.nodes.answer(ConsoleCall, lie)
        self.refused(OpInstanceConsole(instance_name="web1"), ResultValidationError)
        self.nodes.answer(ConsoleCall, {**lie, "command": SERIAL})
        found = self.run_op(OpInstanceConsole(instance_name="web1"))
        self.assertEqual((found["host"], found["user"]), ("node1.example.com", "root"))

    def test_not_running(self) -> None:
        """The error tells the state: wanted so, or not."""
        self.assertIn("ADMIN_down", self.refused(OpInstanceConsole(instance_name="web1"), OpExecError))
        wanted = replace(INSTANCE, admin_state=AdminState.UP)
        self.stage = self.make_stage(replace(CONFIG, instances={wanted.uuid: wanted}))
        self.assertIn("ERROR_down", self.refused(OpInstanceConsole(instance_name="web1"), OpExecError))
