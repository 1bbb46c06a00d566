"""Programs on other nodes."""

import os
import subprocess
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.bootstrap.remote_call import REMOTE_SHELL_VARIABLE, RemoteCall
from ganeti_tx.bootstrap.remote_program import remote_words
from ganeti_tx.runtime.paths import Paths

#: As ssh does: the words put together are for the shell there, which finds few programs.
REMOTE_SHELL = '#!/bin/sh\nshift\nPATH={path} exec /bin/sh -c "$*"\n'


class RemoteProgramTests(SynchronousTestCase):
    """A directory plays this node's own; a script plays ssh."""

    def setUp(self) -> None:
        """This node finds ganeti-example in a directory that is not on the other's search path."""
        self.here, self.there = (Path(self.mktemp()).absolute() for _ in range(2))
        for directory in (self.here, self.there):
            directory.mkdir()
        before = dict(os.environ)
        self.addCleanup(os.environ.update, before)
        self.addCleanup(os.environ.clear)
        os.environ["PATH"] = f"{self.here}:{before['PATH']}"

    def program(self, directory: Path, name: str, text: str) -> Path:
        """A program in a directory."""
        path = directory / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def remote(self, words: list[str]) -> str:
        """What words for the remote shell say there."""
        shell = self.program(self.here, "shell", REMOTE_SHELL.format(path=f"{self.there}:/usr/bin:/bin"))
        done = subprocess.run([shell, "node2", *words], capture_output=True, text=True, check=False)
        return done.stdout

    def test_same_place(self) -> None:
        """What the search path there does not lead to is found where it is here."""
        self.program(self.here, "ganeti-example", '#!/bin/sh\necho "here $1"\n')
        self.assertEqual(self.remote(remote_words("ganeti-example", "join")), "here join\n")

    def test_search_path(self) -> None:
        """Installed elsewhere there, it is found on root's search path."""
        ours = self.program(self.here, "ganeti-example", "")
        words = remote_words("ganeti-example", "join")
        ours.unlink()
        self.program(self.there, "ganeti-example", '#!/bin/sh\necho "there $1"\n')
        self.assertEqual(self.remote(words), "there join\n")

    def test_nowhere(self) -> None:
        """A node without the program is told of, with where it was looked for and what to do."""
        shell = self.program(self.here, "shell", "#!/bin/sh\nexit 127\n")
        os.environ[REMOTE_SHELL_VARIABLE] = str(shell)
        with self.assertRaisesRegex(
            BootstrapError, "node2 has no ganeti-bootstrap.*search path; install .*ganeti-setup"
        ):
            RemoteCall(Paths(self.here), "node2").run("join", b"{}")
