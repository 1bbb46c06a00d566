"""What every IThreads does."""

from twisted.internet.defer import Deferred
from twisted.trial.unittest import TestCase
from zope.interface.verify import verifyObject

from ganeti_tx.runtime.threads import IThreads


class ThreadsContract(TestCase):
    """A subclass sets `threads`."""

    threads: IThreads

    def test_interface(self) -> None:
        """It has every method of the interface."""
        verifyObject(IThreads, self.threads)

    def test_result(self) -> Deferred[None]:
        """What the call returns is the result."""
        return self.threads.run(divmod, 7, 2).addCallback(self.assertEqual, (3, 1))

    def test_error(self) -> Deferred[object]:
        """What the call raises is the failure."""
        return self.assertFailure(self.threads.run(divmod, 7, 0), ZeroDivisionError)
