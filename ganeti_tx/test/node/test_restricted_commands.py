"""Which programs a node runs by name, and what is told of those that it does not."""

from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpExecError
from ganeti_tx.node.restricted_commands import LOCK_LIMIT, OUTPUT_LIMIT, REFUSAL_DELAY, RestrictedCommands
from ganeti_tx.rpc.calls.administration import RestrictedCommand
from ganeti_tx.runtime.file_lock import hold
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.process import Call, FakeProcessRunner


class RestrictedCommandTests(SynchronousTestCase):
    """Real files, a real lock, programs that are only scripted."""

    def setUp(self) -> None:
        self.paths = Paths(Path(mkdtemp()))
        self.paths.lock_dir.mkdir(parents=True)
        self.directory = self.paths.restricted_commands_dir
        self.clock = Clock()
        self.runner = FakeProcessRunner(self.clock)
        self.owners = {self.paths.lock_dir.stat().st_uid}

    def lay_out(self, name: str = "report", mode: int = 0o755) -> Path:
        """Put a program there."""
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o755)
        path = self.directory / name
        path.write_text("#!/bin/sh\n")
        path.chmod(mode)
        return path

    def ask(self, command: str) -> "Deferred[str]":
        """The call, at a daemon of its own."""
        commands = RestrictedCommands(
            RealFiles(InlineThreads()), self.paths, self.runner, self.clock, hold, self.owners
        )
        return Deferred.fromCoroutine(commands.run(RestrictedCommand(command=command)))

    def refused(self, command: str, why: str) -> None:
        """Late, with the text that all have; why, only the log knows."""
        asked = self.ask(command)
        self.assertNoResult(asked)
        self.clock.advance(REFUSAL_DELAY)
        error = str(self.failureResultOf(asked, OpExecError).value)
        self.assertEqual(
            error, f"Executing command '{command}' failed; the log of the node daemon there has the reason"
        )
        self.assertEqual(self.runner.calls, [])

    def test_run(self) -> None:
        """Without arguments; what it says on both channels is told, at once."""
        path = self.lay_out()
        self.runner.script([str(path)], ProcessResult(stdout=b"fine\n", stderr=b"nearly\n"))
        self.assertEqual(self.successResultOf(self.ask("report")), "fine\nnearly\n")
        (call,) = self.runner.calls
        self.assertEqual((call.argv, call.cwd, call.stdin), ((str(path),), Path("/"), b""))

    def test_failed(self) -> None:
        """What ran may tell how it ended."""
        path = self.lay_out()
        self.runner.script([str(path)], ProcessResult(status=3, stdout=b"half\n", stderr=b"no more\n"))
        error = str(self.failureResultOf(self.ask("report"), OpExecError).value)
        self.assertEqual(error, "Command 'report' exited with status 3; output: half no more")

    def test_long_output(self) -> None:
        """What is too long is cut, and told so."""
        path = self.lay_out()
        self.runner.script([str(path)], ProcessResult(stdout=b"x" * (OUTPUT_LIMIT + 1)))
        said = self.successResultOf(self.ask("report"))
        self.assertTrue(said.startswith("x" * OUTPUT_LIMIT + "\n(more than"), said[-100:])

    def test_switched_off(self) -> None:
        """Without the directory there are none."""
        self.refused("report", "no directory")

    def test_names(self) -> None:
        """A name leads to a file of the directory itself."""
        self.lay_out()
        self.lay_out(".hidden")
        for name in ("nosuch", "../report", "/bin/true", "", ".", "..", ".hidden", "-x", "a b", "n" * 101):
            self.refused(name, "name")

    def test_unsafe(self) -> None:
        """What others may have written is not run, nor what is no program."""
        for mode in (0o775, 0o757, 0o644):
            self.lay_out(mode=mode)
            self.refused("report", "mode")
        (self.directory / "report").unlink()
        (self.directory / "report").mkdir(mode=0o755)
        self.refused("report", "directory")
        self.lay_out("other")
        for mode in (0o777, 0o775):
            self.directory.chmod(mode)
            self.refused("other", "mode of the directory")
        self.directory.chmod(0o755)
        self.owners = {65534}
        self.refused("other", "owner")

    def test_link(self) -> None:
        """A link is taken for what it leads to."""
        path = self.lay_out()
        (self.directory / "link").symlink_to(path)
        self.runner.script([str(self.directory / "link")], ProcessResult(stdout=b"fine\n"))
        self.assertEqual(self.successResultOf(self.ask("link")), "fine\n")

    def test_one_at_a_time(self) -> None:
        """Who is refused keeps all others waiting, so that nobody guesses faster by asking often at a time."""
        path = self.lay_out()
        self.runner.script([str(path)], ProcessResult(stdout=b"fine\n"))
        first, second = self.ask("nosuch"), self.ask("report")
        self.clock.pump([0.2] * 20)
        self.assertNoResult(second)
        self.clock.pump([0.2] * 10)
        self.failureResultOf(first, OpExecError)
        self.assertEqual(self.successResultOf(second), "fine\n")

    def test_waits_not_for_ever(self) -> None:
        """A command that takes long has its time; others are told."""
        path = self.lay_out()
        running: Deferred[Any] = Deferred()

        def answer(call: Call) -> "Deferred[ProcessResult]":
            return running

        self.runner.script([str(path)], answer)
        first, second = self.ask("report"), self.ask("report")
        self.clock.pump([0.2] * int(LOCK_LIMIT * 5 + 2))
        self.assertIn("has been running", str(self.failureResultOf(second, OpExecError).value))
        running.callback(ProcessResult(stdout=b"at last\n"))
        self.assertEqual(self.successResultOf(first), "at last\n")
