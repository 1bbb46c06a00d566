"""The exports that lie on a node."""

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.exports import Exports
from ganeti_tx.rpc.calls.backup import ExportList
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.files import MemoryFiles


class ExportTests(SynchronousTestCase):
    """Directories below the directory of exports."""

    def setUp(self) -> None:
        self.files, self.paths = MemoryFiles(), Paths()
        self.dispatch = NodeDispatch(Exports(self.files, self.paths, InlineThreads()))

    def listed(self) -> object:
        """What the node answers."""
        return self.successResultOf(Deferred.fromCoroutine(self.dispatch.perform(ExportList())))

    def test_none(self) -> None:
        """A node to which nothing was exported has not even the directory."""
        self.assertEqual(self.listed(), [])

    def test_names(self) -> None:
        """In order; what is still being written is hidden."""
        for name in ("web2", "web1", ".web3.new"):
            self.files.mkdir(self.paths.export_dir / name)
        self.assertEqual(self.listed(), ["web1", "web2"])
