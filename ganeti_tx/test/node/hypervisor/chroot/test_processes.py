"""Whose processes are an instance's, and that the node's own never are."""

import os
from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.chroot.processes import Inhabitants
from ganeti_tx.runtime.threads import InlineThreads


class InhabitantsTests(SynchronousTestCase):
    """In a list of the kernel's that is only played; nothing is ever signalled."""

    def setUp(self) -> None:
        self.top = Path(self.mktemp()).absolute()
        self.root, self.proc = self.top / "root", self.top / "proc"
        self.root.mkdir(parents=True)
        for process, root in ((os.getpid(), str(self.root)), (os.getppid(), "/")):
            (self.proc / str(process)).mkdir(parents=True)
            (self.proc / str(process) / "root").symlink_to(root)
        self.processes = Inhabitants(InlineThreads(), Clock(), self.proc)

    def of(self, root: Path) -> "Deferred[list[int]]":
        """Those of a root."""
        return Deferred.fromCoroutine(self.processes.of(root))

    def test_own(self) -> None:
        """Those whose root it is; none where nothing is."""
        self.assertEqual(self.successResultOf(self.of(self.root)), [os.getpid()])
        self.assertEqual(self.successResultOf(self.of(self.top / "gone")), [])

    def test_of_the_node(self) -> None:
        """Neither through a link, to whatever it leads, nor by its name is the node's root taken for an instance's."""
        for number, target in enumerate(("/", str(self.root), "gone")):
            link = self.top / f"link{number}"
            link.symlink_to(target)
            said = self.failureResultOf(self.of(link), HypervisorError).getErrorMessage()
            self.assertIn(f"its root {link} is a link", said)
            self.assertIn(f"'rm {link}' removes the link", said)
        for same in (Path("/"), Path("/proc/self/root"), Path("/..")):
            said = self.failureResultOf(self.of(same), HypervisorError).getErrorMessage()
            self.assertTrue("removes the link" in said or f"'umount {same}' takes it away" in said, said)

    def test_way(self) -> None:
        """The same where a directory on the way is a link."""
        (self.top / "way").symlink_to("/")
        said = self.failureResultOf(self.of(self.top / "way" / ".."), HypervisorError).getErrorMessage()
        self.assertIn("is the node's own", said)
