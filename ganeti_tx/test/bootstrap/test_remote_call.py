"""Steps on a node that has no daemon yet; a script plays ssh."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.remote_call import (
    BEGUN,
    LIMIT,
    REMOTE_LIMIT_VARIABLE,
    REMOTE_SHELL_VARIABLE,
    RemoteCall,
    RemoteFailure,
    ssh_argv,
)
from ganeti_tx.runtime.paths import Paths


class RunTests(SynchronousTestCase):
    """What became of a step."""

    def call(self, script: str, **environ: str) -> RemoteCall:
        """A way to a node where the step does what a script says."""
        root = Path(self.mktemp()).absolute()
        root.mkdir()
        shell = root / "shell"
        shell.write_text(f"#!/bin/sh\n{script}\n")
        shell.chmod(0o755)
        return RemoteCall(Paths(root), "node2", environ={REMOTE_SHELL_VARIABLE: str(shell), **environ})

    def failed(self, script: str) -> RemoteFailure:
        """Why a step failed."""
        return self.assertRaises(RemoteFailure, self.call(script).run, "join", b"document")

    def test_well(self) -> None:
        """What it says comes back; it reads the document."""
        self.assertEqual(self.call(f"echo {BEGUN}; cat").run("join", b"document"), ["document"])

    def test_refused(self) -> None:
        """A step that failed has taken back by itself what it did."""
        failure = self.failed(f"echo {BEGUN}; echo Failure: port taken >&2; exit 1")
        self.assertEqual((str(failure), failure.unknown), ("node node2: Failure: port taken", False))

    def test_commands(self) -> None:
        """A node commands no terminal, whether its step went well or not."""
        said = r"printf 'a\033]0;owned\007\rb\n'"
        self.assertEqual(self.call(said).run("leave", b""), ["a ]0;owned ", "b"])
        self.assertEqual(str(self.failed(f"{said} >&2; exit 1")), "node node2: a ]0;owned \nnode node2: b")

    def test_no_way(self) -> None:
        """Where ssh did not come through, nothing was done."""
        self.assertFalse(self.failed("echo Permission denied >&2; exit 255").unknown)

    def test_broken_off(self) -> None:
        """A connection that broke when the step had begun leaves nobody knowing."""
        self.assertTrue(self.failed(f"echo {BEGUN}; echo Connection reset >&2; exit 255").unknown)
        self.assertTrue(self.failed(f"echo {BEGUN}; kill -TERM $$").unknown)

    def test_too_long(self) -> None:
        """A step that takes longer than the environment allows is given up; without a word there it may take two minutes."""
        call = self.call(f"echo {BEGUN}; exec sleep 60", **{REMOTE_LIMIT_VARIABLE: "1"})
        failure = self.assertRaises(RemoteFailure, call.run, "join", b"")
        said = "node node2: ganeti-bootstrap join did not end within 1 s"
        self.assertEqual((str(failure), failure.unknown), (said, True))
        self.assertEqual((self.call("").limit(), LIMIT), (120, 120))

    def test_no_limit(self) -> None:
        """What is no number of seconds is refused before anything is run."""
        for wrong in ("0", "-1", "1.5", "soon", "123456", "1 s"):
            failure = self.assertRaises(RemoteFailure, self.call("", **{REMOTE_LIMIT_VARIABLE: wrong}).run, "join", b"")
            self.assertEqual(str(failure), f"GANETI_REMOTE_LIMIT must be 1 to 99999 seconds, not {wrong!r}")

    def test_known_port(self) -> None:
        """A node that the cluster knows is reached at its own port; what the operator names goes before."""
        paths = Paths(Path(self.mktemp()).absolute())
        paths.data_dir.mkdir(parents=True)
        paths.ssconf_file("ssh_ports").write_text("node1=22\nnode2=2222\n")
        self.assertIn("-oPort=2222", RemoteCall(paths, "node2", environ={}).shell())
        self.assertIn("-oPort=23", RemoteCall(paths, "node2", port=23, environ={}).shell())
        self.assertNotIn("-oPort", " ".join(RemoteCall(paths, "node3", environ={}).shell()))


class SshTests(SynchronousTestCase):
    """How ssh is asked to look at the host's key."""

    def test_checked(self) -> None:
        """A host that nobody knows is asked about, or refused where nobody can be asked; the cluster's nodes are known."""
        argv = ssh_argv(Paths(), check_host_key=True, port=None, interactive=True)
        self.assertIn("-oStrictHostKeyChecking=ask", argv)
        self.assertIn("-oGlobalKnownHostsFile=/var/lib/ganeti/known_hosts /etc/ssh/ssh_known_hosts", argv)
        self.assertNotIn("-oBatchMode=yes", argv)
        self.assertIn("-oBatchMode=yes", ssh_argv(Paths(), check_host_key=True, port=None, interactive=False))

    def test_host(self) -> None:
        """A host that is called like an option is a host; all that is one stands before."""
        argv = ssh_argv(Paths(), check_host_key=True, port=22, interactive=False, more=["-oIdentitiesOnly=yes"])
        self.assertEqual(argv[-2:], ["-oIdentitiesOnly=yes", "--"])

    def test_not_checked(self) -> None:
        """For this one connection: what is known is not read, and nothing is remembered."""
        argv = ssh_argv(Paths(), check_host_key=False, port=22, interactive=False)
        for wanted in ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "GlobalKnownHostsFile=/dev/null"):
            self.assertIn(f"-o{wanted}", argv)
