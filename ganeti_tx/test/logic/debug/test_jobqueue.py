"""Tests of the opcode that tests the queue."""

from ganeti_tx.errors import OpExecError, OpPrereqError
from ganeti_tx.model.opcodes import OpTestJqueue
from ganeti_tx.test.logic.stage import UnitTestCase


class JobqueueTests(UnitTestCase):
    """OP_TEST_JQUEUE."""

    def test_messages(self) -> None:
        """All messages are told in their order, and the result is true."""
        self.assertIs(self.run_op(OpTestJqueue(log_messages=("one", "two"))), True)
        self.assertEqual(self.stage.feedback, ["one", "two"])

    def test_failure(self) -> None:
        """It fails after its messages when asked to."""
        self.assertIn("requested", self.refused(OpTestJqueue(log_messages=("one",), fail=True), OpExecError))
        self.assertEqual(self.stage.feedback, ["one"])

    def test_notices(self) -> None:
        """Notices, which are not there, are refused by their names."""
        self.assertIn("notify_exec", self.refused(OpTestJqueue(notify_exec=True), OpPrereqError))
