"""Tests of the programs as such: help, versions, what is not there, errors."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx import __version__
from ganeti_tx.cli.failures import describe
from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.options import Command
from ganeti_tx.cli.program import load
from ganeti_tx.errors import (
    ConfigurationError,
    ECode,
    GanetiError,
    GenericError,
    HooksAbort,
    JobQueueDrainError,
    OpExecError,
    OpPrereqError,
)
from ganeti_tx.test.cli.fakes import CommandLine

PROGRAMS = ("gnt-cluster", "gnt-debug", "gnt-instance", "gnt-job", "gnt-node", "gnt-os")


class ProgramTests(SynchronousTestCase):
    """What every program does."""

    def setUp(self) -> None:
        self.cli = CommandLine()

    def test_commands_exist(self) -> None:
        """Every command of every table can be loaded, and describes itself."""
        for name in PROGRAMS:
            for entry in program_named(name).commands.values():
                self.assertIsInstance(load(entry), Command)
                self.assertTrue(entry.help)

    def test_help(self) -> None:
        """Each command shows its options."""
        for name in PROGRAMS:
            for command in program_named(name).commands:
                outcome = self.cli(name, command, "--help")
                self.assertEqual((outcome.status, outcome.err), (0, ""))
                self.assertIn(f"Usage: {name} {command} [options]", outcome.out)

    def test_no_command(self) -> None:
        """Without a command the usage is a failure, with --help it is not."""
        self.assertEqual([self.cli("gnt-job").status, self.cli("gnt-job", "--help").status], [1, 0])
        self.assertIn(" list            - list jobs\n", self.cli("gnt-job").out)

    def test_version(self) -> None:
        """--version names the program and the release."""
        outcome = self.cli("gnt-job", "--version")
        self.assertEqual((outcome.status, outcome.out), (0, f"gnt-job (ganeti ganeti_tx) {__version__}\n"))

    def test_not_available(self) -> None:
        """A command that is not there is refused with those that are."""
        outcome = self.cli("gnt-os", "mend")
        self.assertEqual(outcome.status, 1)
        self.assertEqual(
            outcome.err,
            "gnt-os: command 'mend' is not available in this version; available: diagnose, info, list, modify\n",
        )

    def test_words_have_names(self) -> None:
        """The usage says what each word is that a command takes."""
        for line, wanted in {
            "gnt-instance grow-disk": "<instance> <disk> <amount>",
            "gnt-node repair-storage": "<node> lvm-vg <name>",
            "gnt-node modify-storage": "<node> lvm-pv <name>",
            "gnt-debug delay": "<duration>",
        }.items():
            self.assertIn(f"[options] {wanted}\n", self.cli(*line.split(), "--help").out)

    def test_usage_errors(self) -> None:
        """What was typed wrongly is one line on standard error; options that cannot be read have a status of their own."""
        for words, (status, text) in {
            ("gnt-instance", "add", "-s", "12Q", "web1"): (2, "invalid size '12Q'"),
            ("gnt-instance", "add"): (1, "wants <host>, got 0 arguments"),
            ("gnt-instance", "list", "--no-such"): (2, "no such option: --no-such"),
            ("gnt-instance", "remove", "web1", "-f"): (1, "options such as -f stand before the arguments"),
            ("gnt-instance", "list", "web1", "-o", "name"): (1, "invalid name '-o' (options such as -o stand before"),
            ("gnt-job", "list", "3", "--running"): (1, "invalid name '--running'"),
            ("gnt-instance", "remove", "--dry-run=1", "web1"): (2, "--dry-run option does not take a value"),
            ("gnt-cluster", "queue", "empty"): (1, "invalid argument 'empty': choose from drain, undrain, info"),
            ("gnt-cluster", "version", "x"): (1, "takes no arguments, got 'x'"),
            ("gnt-job", "archive", "x"): (1, "invalid job id 'x'"),
            ("gnt-instance", "add", "--no", "web1"): (2, "ambiguous option: --no"),
        }.items():
            outcome = self.cli(*words)
            self.assertEqual((outcome.status, outcome.out, outcome.err.count("\n")), (status, "", 1), words)
            self.assertIn(text, outcome.err)
            self.assertEqual(self.cli.client.calls, [])

    def test_environment_of_arguments(self) -> None:
        """A variable whose quotes do not match is named."""
        self.cli.environ["GNT_NODE_LIST"] = "'a"
        self.assertIn("GNT_NODE_LIST", self.cli("gnt-node", "list").err)


class FailureTests(SynchronousTestCase):
    """Errors as operators and scripts know them."""

    def test_texts(self) -> None:
        """Each class has its form and its exit status."""
        cases: dict[GanetiError, tuple[int, str]] = {
            OpPrereqError("Instance 'x' not known", ECode.NOENT): (
                1,
                "Failure: prerequisites not met for this operation:\n"
                "error type: unknown_entity, error details:\nInstance 'x' not known",
            ),
            OpExecError("lvcreate failed:\nno space"): (
                1,
                "Failure: command execution error:\nlvcreate failed:\nno space",
            ),
            HooksAbort([["node1", "10-check", "no\n"], ["node2", "x", ""]]): (
                1,
                "Failure: hooks execution failed:\n  node: node1, script: 10-check, output: no\n"
                "  node: node2, script: x, output: (no output)",
            ),
            ConfigurationError("no nodes"): (2, "Corrupt configuration file: no nodes"),
            GenericError("odd"): (1, "Unhandled Ganeti error: odd"),
            JobQueueDrainError("drained"): (
                1,
                "Failure: the job queue is drained and takes no new jobs ('gnt-cluster queue undrain' opens it)",
            ),
        }
        for error, (status, text) in cases.items():
            self.assertEqual(describe(error), (status, text))

    def test_harmless(self) -> None:
        """What a guest or a script has said commands no terminal; its lines stay."""
        cli = CommandLine()

        def fail(*_words: object) -> object:
            raise OpExecError("its script said: \x1b]0;pwned\x07\x1b[2J\n\tsecond \x9b8m")

        cli.client.answers["QueryClusterInfo"] = fail
        outcome = cli("gnt-cluster", "version")
        self.assertEqual((outcome.status, outcome.out), (1, ""))
        self.assertEqual(
            outcome.err,
            "Failure: command execution error:\nits script said: \\x1b]0;pwned\\x07\\x1b[2J\n\tsecond \\x9b8m\n",
        )
