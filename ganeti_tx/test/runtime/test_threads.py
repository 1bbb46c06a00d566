"""Calls in place."""

from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.contracts.threads import ThreadsContract


class InlineThreadsTests(ThreadsContract):
    """The contract without threads."""

    def setUp(self) -> None:
        """Nothing to prepare."""
        self.threads = InlineThreads()


del ThreadsContract  # trial would run it on its own
