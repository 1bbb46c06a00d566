"""SSH on a node: its keys, known hosts, and whom root lets in."""

from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ConfigurationError, ProgrammerError
from ganeti_tx.node.answers import methods_of
from ganeti_tx.node.ssh_files import SshFiles, forget_ssh
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.cluster import WriteSshFiles
from ganeti_tx.rpc.calls.node import NodeSshKeys, SshKeys
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import Call, FakeProcessRunner

KEY = "ssh-rsa AAAA"


class SshFilesTests(SynchronousTestCase):
    """A node with an SSH daemon; ssh-keygen writes what it is to write."""

    def setUp(self) -> None:
        self.paths = Paths(Path("/node"))
        self.files = MemoryFiles()
        self.put(self.paths.server_pem, "a member's")
        self.put(self.paths.ssh_config_dir / "ssh_host_rsa_key.pub", "ssh-rsa HOST root@here\n")
        self.put(self.paths.ssh_config_dir / "ssh_host_odd_key.pub", 'command="x" ssh-rsa HOST\n')
        self.put(self.paths.ssh_config_dir / "ssh_host_rsa_key", "private")
        self.runner = FakeProcessRunner(Clock())
        self.runner.script(["ssh-keygen"], self.keygen)
        self.ended = ProcessResult()
        self.part = SshFiles(self.files, self.paths, self.runner, "node1", Terms(self.files, self.paths))
        self.methods = methods_of([self.part])

    def put(self, path: Path, text: str) -> None:
        """Write a file."""
        self.files.mkdir(path.parent)
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, text.encode())))

    def keygen(self, call: Call) -> ProcessResult:
        """Makes a key where it is told to."""
        if self.ended.succeeded and "-y" not in call.argv:
            self.put(Path(call.argv[-1]), "private")
            self.put(Path(f"{call.argv[-1]}.pub"), f"ssh-rsa MADE{call.argv[5]} root@node1\n")
        return self.ended

    def do(self, call: Any) -> Any:
        """One call that succeeds."""
        return self.successResultOf(Deferred.fromCoroutine(self.methods[type(call)](call)))

    def write(self, serial: int = 1, known_hosts: str = "node1 ssh-rsa HOST\n", **authorized: str) -> None:
        """As the master does."""
        self.do(WriteSshFiles(known_hosts=known_hosts, authorized=authorized, serial=serial))

    def authorized(self) -> str:
        """Root's file."""
        return self.files.read(self.paths.root_authorized_keys, 10**6).decode()

    # Keys

    def test_host_keys(self) -> None:
        """Only public ones are told, without comment; root's are left alone."""
        self.assertEqual(self.do(NodeSshKeys()), SshKeys(host=["ssh-rsa HOST"]))
        self.assertFalse(self.files.exists(self.paths.root_ssh_dir))

    def test_no_daemon(self) -> None:
        """A machine without one has none."""
        self.part.paths = Paths(Path("/other"))
        self.assertEqual(self.do(NodeSshKeys()).host, [])

    def test_root_key_is_made(self) -> None:
        """Once, of the type and length asked for."""
        call = NodeSshKeys(root_type="rsa", root_bits=3072)
        for _ in range(2):
            self.assertEqual(self.do(call).root, "ssh-rsa MADE3072")
        (made,) = self.runner.calls
        self.assertEqual(made.argv[:8], ("ssh-keygen", "-q", "-t", "rsa", "-b", "3072", "-N", ""))
        self.assertEqual(self.files.stat(self.paths.root_ssh_dir).mode, 0o700)

    def test_root_key_stays(self) -> None:
        """A private key that is there is never replaced: its public half is asked for."""
        self.put(self.paths.root_ssh_dir / "id_rsa", "private")
        self.ended = ProcessResult(stdout=b"ssh-rsa HALF\n")
        self.assertEqual(self.do(NodeSshKeys(root_type="rsa", root_bits=2048)).root, "ssh-rsa HALF")
        self.assertIn("-y", self.runner.calls[0].argv)

    def test_cannot_be_made(self) -> None:
        """Why is told, and the host's keys all the same."""
        self.ended = ProcessResult(status=1, stderr=b"disk full\n")
        told = self.do(NodeSshKeys(root_type="rsa", root_bits=2048))
        self.assertEqual((told.host, told.root), (["ssh-rsa HOST"], None))
        self.assertIn("disk full", told.fault)

    # Files

    def test_write(self) -> None:
        """Known hosts can be read by all, root's file by root only; other people's lines stay."""
        self.put(self.paths.root_authorized_keys, "ssh-rsa OTHER me\n")
        self.write(node1=KEY)
        self.assertEqual(self.files.read(self.paths.known_hosts, 99), b"node1 ssh-rsa HOST\n")
        self.assertEqual(self.files.stat(self.paths.known_hosts).mode, 0o644)
        self.assertEqual(self.authorized(), f"ssh-rsa OTHER me\n{KEY} root@node1 (ganeti_tx)\n")
        self.assertEqual(self.files.stat(self.paths.root_authorized_keys).mode, 0o600)
        self.write(2)
        self.assertEqual(self.authorized(), "ssh-rsa OTHER me\n")

    def test_left_alone(self) -> None:
        """Without set-up root's file is not even made."""
        self.do(WriteSshFiles(known_hosts="x\n", authorized=None, serial=1))
        self.assertFalse(self.files.exists(self.paths.root_ssh_dir))
        self.assertTrue(self.files.exists(self.paths.known_hosts))

    def test_older(self) -> None:
        """Who was let in before is not let in again by a message that comes late."""
        self.write(5)
        with self.assertRaisesRegex(ConfigurationError, "newer than serial number 4"):
            self.successResultOf(self.failing(WriteSshFiles(known_hosts="", authorized={"node1": KEY}, serial=4)))

    def test_no_key(self) -> None:
        """Nothing but a plain key is let in."""
        for key in (f'command="x" {KEY}', f"{KEY}\n{KEY}", "", "ssh-rsa AAAA comment"):
            with self.assertRaisesRegex(ProgrammerError, "not a public SSH key"):
                self.successResultOf(self.failing(WriteSshFiles(known_hosts="", authorized={"n": key}, serial=9)))

    def failing(self, call: Any) -> "Deferred[Any]":
        """A call whose error is raised here."""
        done: Deferred[Any] = Deferred.fromCoroutine(self.methods[type(call)](call))
        self.failureResultOf(done).raiseException()
        return done

    def test_forget(self) -> None:
        """A node that leaves knows nobody and lets nobody of the cluster in."""
        self.put(self.paths.root_authorized_keys, "ssh-rsa OTHER me\n")
        self.write(node1=KEY)
        self.successResultOf(Deferred.fromCoroutine(forget_ssh(self.files, self.paths)))
        self.assertEqual(self.authorized(), "ssh-rsa OTHER me\n")
        self.assertFalse(self.files.exists(self.paths.known_hosts))
        self.files.remove(self.paths.server_pem)
        with self.assertRaisesRegex(ConfigurationError, "has left its cluster"):
            self.successResultOf(self.failing(WriteSshFiles(known_hosts="late", authorized={"node1": KEY}, serial=9)))
