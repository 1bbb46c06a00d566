"""What becomes of the errors of a node's calls."""

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import GanetiError, GenericError, HypervisorError, ProgrammerError
from ganeti_tx.node.answers import answers
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.rpc.calls.node import Version
from ganeti_tx.rpc.refusals import UnknownCall
from ganeti_tx.runtime.daemon_logs import log_of


@frozen
class Broken:
    """Its call fails."""

    error: Exception

    @answers(Version)
    async def version(self, call: Version) -> int:
        """Raises the error."""
        raise self.error


class DispatchTests(SynchronousTestCase):
    """NodeDispatch with one call."""

    def fails(self, error: Exception, kind: type[GanetiError]) -> str:
        """What the caller hears when the call fails so, as an error of this class."""

        work = Deferred.fromCoroutine(NodeDispatch(Broken(error)).perform(Version()))
        return str(self.failureResultOf(work, kind).value)

    def test_own_error(self) -> None:
        """An error of Ganeti's travels as it is."""
        self.assertEqual(self.fails(HypervisorError("no such instance"), HypervisorError), "no such instance")

    def test_system_error(self) -> None:
        """The system's refusal names the call and the file."""
        error = PermissionError(13, "Permission denied", "/var/lib/ganeti/x")
        self.assertEqual(self.fails(error, GenericError), "version: /var/lib/ganeti/x: Permission denied")

    def test_fault_of_ours(self) -> None:
        """A fault is one line for the caller and in full in the log."""
        text = self.fails(KeyError("disk\n0"), ProgrammerError)
        self.assertIn("internal error", text)
        self.assertIn(log_of("ganeti-noded"), text)
        self.assertEqual(len(text.splitlines()), 1)
        self.assertEqual(len(self.flushLoggedErrors(KeyError)), 1)

    def test_declared_wrongly(self) -> None:
        """Two methods for one call, and a part that does none, are found when the daemon starts."""
        wrong: list[list[object]] = [[Broken(OSError()), Broken(OSError())], [{}]]
        for parts in wrong:
            with self.assertRaisesRegex(ValueError, "answers no call, or one that is answered"):
                NodeDispatch(*parts)

    def test_unknown(self) -> None:
        """A call that is not in the table, or has no method here, is unknown; a long name is cut."""
        dispatch = NodeDispatch()
        for name in ("version", "x" * 10**5):
            with self.assertRaises(UnknownCall) as caught:
                dispatch.kind_of(name)
            self.assertLess(len(str(caught.exception)), 200)
