"""Another SSH key for root of a node."""

from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpExecError, ProgrammerError
from ganeti_tx.node.answers import methods_of
from ganeti_tx.node.ssh_renewal import SshRenewal
from ganeti_tx.rpc.calls.keys import SshMakeKey, SshUseKey
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import Call, FakeProcessRunner


class SshRenewalTests(SynchronousTestCase):
    """A node whose root has a key; ssh-keygen makes a different one each time."""

    def setUp(self) -> None:
        self.paths = Paths(Path("/node"))
        self.files = MemoryFiles()
        self.put("id_rsa", "former")
        self.put("id_rsa.pub", "ssh-rsa FORMER root@node1\n")
        self.made = 0
        self.ended = ProcessResult()
        runner = FakeProcessRunner(Clock())
        runner.script(["ssh-keygen"], self.keygen)
        self.methods = methods_of([SshRenewal(self.files, self.paths, runner, "node1")])

    def put(self, name: str, text: str) -> None:
        """Write a file of root's."""
        path = self.paths.root_ssh_dir / name
        self.files.mkdir(path.parent)
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, text.encode())))

    def there(self) -> dict[str, str]:
        """Root's files."""
        directory = self.paths.root_ssh_dir
        return {name: self.files.read(directory / name, 999).decode() for name in self.files.listdir(directory)}

    def keygen(self, call: Call) -> ProcessResult:
        """It asks whether to replace a key that is there, and gets no answer."""
        name = Path(call.argv[-1]).name
        self.assertNotIn(name, self.there())
        if self.ended.succeeded:
            self.made += 1
            self.put(name, f"private {self.made}")
            self.put(f"{name}.pub", f"ssh-rsa MADE{self.made} root@node1\n")
        return self.ended

    def do(self, call: Any) -> Any:
        """One call that succeeds."""
        return self.successResultOf(Deferred.fromCoroutine(self.methods[type(call)](call)))

    def test_made_then_used(self) -> None:
        """The former key is there until the new one takes its place; what is done twice does no harm."""
        make, use = SshMakeKey(root_type="rsa", root_bits=3072), SshUseKey(root_type="rsa")
        self.assertEqual(self.do(make), "ssh-rsa MADE1")
        self.assertEqual(self.there()["id_rsa"], "former")
        self.assertEqual(self.do(make), "ssh-rsa MADE2")
        for _ in range(2):
            self.do(use)
            self.assertEqual(self.there(), {"id_rsa": "private 2", "id_rsa.pub": "ssh-rsa MADE2 root@node1\n"})

    def test_ended_between(self) -> None:
        """A daemon that died after it had moved the private key moves the other half when it is told again."""
        self.do(SshMakeKey(root_type="rsa", root_bits=3072))
        directory = self.paths.root_ssh_dir
        self.files.remove(directory / "id_rsa.pub")
        self.files.rename(directory / "id_rsa.ganeti-next", directory / "id_rsa")
        self.do(SshUseKey(root_type="rsa"))
        self.assertEqual(self.there(), {"id_rsa": "private 1", "id_rsa.pub": "ssh-rsa MADE1 root@node1\n"})

    def test_refused(self) -> None:
        """What ssh-keygen does not make is told, and the former key stays; there are no keys of other types."""
        self.ended = ProcessResult(status=1, stderr=b"unknown key type dsa\n")
        failing = Deferred.fromCoroutine(self.methods[SshMakeKey](SshMakeKey(root_type="dsa", root_bits=1024)))
        self.assertIn("unknown key type dsa", str(self.failureResultOf(failing, OpExecError).value))
        self.assertEqual(self.there()["id_rsa"], "former")
        failing = Deferred.fromCoroutine(self.methods[SshUseKey](SshUseKey(root_type="../x")))
        self.failureResultOf(failing, ProgrammerError)
