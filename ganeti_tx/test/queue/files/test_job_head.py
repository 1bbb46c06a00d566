"""The heads of ended jobs."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.queue.fields import HEAD_FIELDS
from ganeti_tx.queue.files.job_head import head_of
from ganeti_tx.queue.job import QueuedJob, QueuedOp, Status, Timestamp

DELAY = {"OP_ID": "OP_TEST_DELAY", "duration": 1.5}


def job(*inputs: dict[str, Any], end: Timestamp | None = (1_700_000_000, 999_999)) -> QueuedJob:
    """An ended job."""
    ops = [QueuedOp(input=each, status=Status.ERROR, priority=-5) for each in inputs]
    return QueuedJob(id=7, ops=ops, received_timestamp=(1, 0), start_timestamp=None, end_timestamp=end)


class HeadTests(SynchronousTestCase):
    """A head answers as its job does."""

    def assert_same(self, whole: QueuedJob) -> None:
        """Every field that a head has is that of the job."""
        head = head_of(whole)
        for name, get in HEAD_FIELDS.items():
            self.assertEqual(get(head), get(whole), name)
        self.assertTrue(head.finalized)

    def test_same(self) -> None:
        """For one opcode, none, and several; for times that are there and that are not."""
        self.assert_same(job(DELAY))
        self.assert_same(job(DELAY, {"OP_ID": "OP_CLUSTER_VERIFY"}, end=None))
        self.assert_same(QueuedJob(id=8, ops=[]))

    def test_unknown_opcode(self) -> None:
        """A job of an opcode that this version does not know is listed by the opcode's name."""
        self.assertEqual(head_of(job({"OP_ID": "OP_OF_TOMORROW"}, {})).summaries, ["OF_TOMORROW", ""])
