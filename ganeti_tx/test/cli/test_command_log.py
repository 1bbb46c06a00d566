"""The log of commands: what was typed and what came of it, never a secret."""

import io
import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.command_log import MAX_LINE, CommandLog, words_to_keep
from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.program import CommandContext, load, run
from ganeti_tx.test.cli.fakes import FakeClient


class CommandLogTests(SynchronousTestCase):
    """Commands at a place of their own."""

    def setUp(self) -> None:
        self.root = Path(self.mktemp()).absolute()
        self.path = self.root / "var/log/ganeti/commands.log"
        self.path.parent.mkdir(parents=True)
        self.environ = {"GANETI_ROOTDIR": str(self.root)}

    def type(self, program: str, *words: str) -> int:
        """Run a command as it is typed; its status."""
        context = CommandContext(
            self.environ,
            io.StringIO(),
            io.StringIO(),
            io.StringIO(),
            FakeClient,
            lambda argv, document: 0,
            log=lambda name, command: CommandLog(self.environ, name, command),
        )
        return run(program_named(program), words, context)

    def lines(self) -> list[str]:
        """What stands in the log, without the times."""
        return [line.partition(": ")[2] for line in self.path.read_text().splitlines()]

    def test_lines(self) -> None:
        """A command has a line with its words; one that fails another, in one line, with its status."""
        self.assertEqual(self.type("gnt-instance", "start", "--submit", "web1"), 0)
        self.assertEqual(self.type("gnt-job", "watch", "99"), 1)
        who = f"pid={os.getpid()}"
        first, second, failed = self.lines()
        self.assertEqual(first, f"gnt-instance startup {who} INFO run with arguments '--submit web1'")
        self.assertEqual(second, f"gnt-job watch {who} INFO run with arguments '99'")
        self.assertRegex(failed, rf"gnt-job watch {who} ERROR .*99.* \(status 1\)")
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o600)

    def test_secrets(self) -> None:
        """Values of private and secret OS parameters are left out, however the option is written."""
        add = load(program_named("gnt-instance").commands["add"])
        for words in (
            ["--os-parameters-secret", "key=hunter2"],
            ["--os-parameters-secret=key=hunter2"],
            ["--os-parameters-sec=key=hunter2"],
            ["--os-parameters-p", "key=hunter2"],
            ["--os-parameters-private", "--os-parameters-private=hunter2"],
        ):
            text = words_to_keep(add, [*words, "-n", "node1", "web1"])
            self.assertNotIn("hunter2", text)
            self.assertTrue(text.endswith("<redacted> -n node1 web1"), text)

    def test_not_allowed(self) -> None:
        """Where nothing may be written, or a link or a pipe lies in wait, commands work and nothing is logged."""
        target = self.root / "target"
        target.write_text("")
        self.path.symlink_to(target)
        self.assertEqual(self.type("gnt-instance", "start", "--submit", "web1"), 0)
        self.assertEqual(target.read_text(), "")
        self.path.unlink()
        os.mkfifo(self.path)
        reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self.assertEqual(self.type("gnt-instance", "start", "--submit", "web1"), 0)
        self.assertEqual(os.read(reader, 100), b"")
        os.close(reader)
        self.assertEqual(self.type("gnt-instance", "start", "--submit", "web1"), 0)
        self.path.unlink()
        self.path.parent.rmdir()
        self.assertEqual(self.type("gnt-instance", "start", "--submit", "web1"), 0)

    def test_one_line(self) -> None:
        """What was typed makes one line of bounded length, whatever it is."""
        reason = "web1\nx INFO" + "y" * 2 * MAX_LINE
        self.assertEqual(self.type("gnt-instance", "start", "--submit", "--reason", reason, "web1"), 0)
        (line,) = self.path.read_text().splitlines()
        self.assertEqual(len(line), MAX_LINE)
