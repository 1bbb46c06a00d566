"""What holds for every gnt-* program: exit codes, versions, abbreviated options, options before arguments, usual arguments."""

import io
from collections.abc import Iterator

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.options import COMMON, Command
from ganeti_tx.cli.parsing import UsageError, option_parser, parse
from ganeti_tx.cli.program import load
from ganeti_tx.errors import ExitCode
from ganeti_tx.test.cli.fakes import CommandLine, answer_of
from ganeti_tx.test.cli.test_facts import FACTS, commands
from ganeti_tx.test.cli.walk_cases import WORDS

PROGRAMS = tuple(FACTS["commands"])


def long_options(command: Command) -> list[str]:
    """As they are written."""
    return [flag for option in (*command.options, *COMMON) for flag in option.flags if flag.startswith("--")]


def shortest(flag: str, all_flags: list[str]) -> str:
    """As much of it as no other option begins with, but not the flag of another."""
    names = {*all_flags, "--help"}
    for length in range(3, len(flag)):
        if sum(name.startswith(flag[:length]) for name in names) == 1:
            return flag[:length]
    return flag


#: What is said of an option that came too late.
LATE = "(options such as --reason=late stand before the arguments)"


class ProgramTests(SynchronousTestCase):
    """Without a command, or with a wrong one."""

    def test_eleven(self) -> None:
        """These are all."""
        self.assertEqual(len(PROGRAMS), 11)

    def test_no_command(self) -> None:
        """The usage with every command goes to standard output, and the status says that nothing was done."""
        for name in PROGRAMS:
            status, out, err = CommandLine()(name)
            self.assertEqual((status, err), (ExitCode.FAILURE, ""), name)
            self.assertTrue(out.startswith(f"Usage: {name} {{command}}"), name)
            for command in program_named(name).commands:
                self.assertIn(f"\n {command} ", out, name)

    def test_help(self) -> None:
        """Who asks for the usage gets what was wanted."""
        for name in PROGRAMS:
            status, out, err = CommandLine()(name, "--help")
            self.assertEqual((status, out, err), (ExitCode.SUCCESS, CommandLine()(name).out, ""), name)

    def test_version(self) -> None:
        """The program and the release, alone."""
        for name in PROGRAMS:
            status, out, err = CommandLine()(name, "--version")
            self.assertEqual((status, err), (ExitCode.SUCCESS, ""))
            self.assertRegex(out, rf"^{name} \(ganeti \S+\) \d+\.\d+\.\d+\n$")

    def test_unknown_command(self) -> None:
        """It is named."""
        for name in PROGRAMS:
            status, out, err = CommandLine()(name, "no-such-command")
            self.assertEqual((status, out), (ExitCode.FAILURE, ""), name)
            self.assertIn("no-such-command", err)


class CommandTests(SynchronousTestCase):
    """Of each of the 131, and of our own."""

    def all(self) -> Iterator[tuple[str, str, Command]]:
        """By program and name."""
        for program in PROGRAMS:
            for name, entry in program_named(program).commands.items():
                yield program, name, load(entry)

    def test_help(self) -> None:
        """It ends well without a cluster, and tells every option."""
        for program, name, command in self.all():
            status, out, err = CommandLine()(program, name, "--help")
            self.assertEqual((status, err), (ExitCode.SUCCESS, ""), (program, name))
            for flag in long_options(command):
                self.assertIn(flag, out, (program, name))

    def test_unknown_option(self) -> None:
        """The status for it is one of its own."""
        for program, name, _command in self.all():
            status, out, err = CommandLine()(program, name, "--no-such-option")
            self.assertEqual((status, out), (ExitCode.USAGE, ""), (program, name))
            self.assertIn("--no-such-option", err)

    def test_abbreviated(self) -> None:
        """As much of a long option as tells it from the table's others is enough, whatever else there is."""
        for program, name, command, fact in commands():
            flags = [flag for option in (*fact["options"], *FACTS["common_options"]) for flag in option["long"]]
            parser = option_parser(program, name, command)
            for flag in flags:
                self.assertEqual(parser._match_long_opt(shortest(flag, flags)), flag, (program, name, flag))

    def test_ambiguous(self) -> None:
        """What could be several is refused with their names."""
        status, out, err = CommandLine()("gnt-instance", "add", "--os-parameters-", "x", "new1")
        self.assertEqual((status, out), (ExitCode.USAGE, ""))
        self.assertIn("--os-parameters-private, --os-parameters-secret", err)

    def test_options_first(self) -> None:
        """An option behind an argument is an argument; where that cannot be a name, it is said where options stand."""
        for program, name, command, fact in commands():
            if any(arg["max"] is None for arg in fact["args"]):
                words = [(arg.get("choices") or [WORDS.get(arg["kind"])])[0] for arg in fact["args"]]
                try:
                    options, found = parse(program, name, command, [*(words or ["a"]), "--reason=late"], {})
                except UsageError as error:
                    self.assertIn(LATE, str(error))
                else:
                    self.assertEqual((options.reason, found), ([], [*words, "--reason=late"]), (program, name))

    def test_too_many(self) -> None:
        """So one that takes no more arguments says why."""
        for program, name, _command, fact in commands():
            most = [arg["max"] for arg in fact["args"]]
            command = load(program_named(program).commands[name])
            if None in most or any(arg.most is None for arg in command.arguments):
                continue
            words = [(arg.get("choices") or ["a"])[0] for arg in fact["args"] for _ in range(arg["max"])]
            with self.assertRaises(UsageError) as caught:
                parse(program, name, command, [*(words or ["a"]), "--reason=late"], {})
            self.assertEqual((caught.exception.status, LATE in str(caught.exception)), (ExitCode.FAILURE, True), name)

    def test_too_few(self) -> None:
        """An argument that is missing is told by its kind."""
        for program, name, _command, fact in commands():
            least = sum(arg["min"] for arg in fact["args"])
            if least:
                status, out, err = CommandLine()(program, name)
                self.assertEqual((status, out), (ExitCode.FAILURE, ""), (program, name))
                self.assertIn(f"{program} {name}: wants ", err)

    def test_unknown_field(self) -> None:
        """A list with one ends with a status of its own."""
        for program, name, _command, fact in commands():
            if "default_output_fields" not in fact or (program, name) not in QUERIES:
                continue
            cli = CommandLine()
            cli.client.answers["Query"] = lambda *_: answer_of(("nosuch", "unknown", "nosuch"), rows=[[(1, None)]])
            status, _out, err = cli(program, name, "-o", "nosuch")
            self.assertEqual(status, ExitCode.UNKNOWN_FIELD, (program, name))
            self.assertIn("nosuch", err)


#: Lists that are answered by a query, not by a job.
QUERIES = {(program, "list") for program in PROGRAMS} - {("gnt-os", "list")}


class UsualArgumentTests(SynchronousTestCase):
    """From the environment."""

    def variables(self) -> Iterator[tuple[str, str, str]]:
        """Of the table, with the commands whose they are."""
        for program, name, _command, fact in commands():
            if fact["env_default_args"]:
                yield program, name, fact["env_default_args"]

    def run_list(self, program: str, name: str, environ: dict[str, str], *words: str) -> tuple[CommandLine, int, str]:
        """The command in an environment; what it complains of."""
        cli = CommandLine()
        cli.environ.update(environ)
        cli.client.answers["Query"] = lambda *_: answer_of(("name", "text", "Name"), rows=[["a"]])
        outcome = cli(program, name, *words, stdin=io.StringIO())
        return cli, outcome.status, outcome.err

    def test_three(self) -> None:
        """Three commands have one."""
        self.assertEqual(
            [variable for *_command, variable in self.variables()],
            ["GNT_GROUP_LIST", "GNT_NODE_LIST", "GNT_INSTANCE_LIST"],
        )

    def test_before_typed(self) -> None:
        """What is typed counts where both say something, for the last of two options wins."""
        for program, name, variable in self.variables():
            cli, status, err = self.run_list(program, name, {variable: "--no-headers -o name,tags"}, "-o", "tags")
            self.assertEqual((status, err), (0, ""), program)
            self.assertEqual([args[1] for args in cli.client.sent("Query")], [["tags"]], program)

    def test_quoting(self) -> None:
        """Quotes hold words together as in a shell, and nothing is expanded."""
        for program, name, variable in self.variables():
            value = """-F 'name == "$HOME *"'"""
            cli, status, err = self.run_list(program, name, {variable: value})
            self.assertEqual((status, err), (0, ""), program)
            self.assertEqual([args[2] for args in cli.client.sent("Query")], [["==", "name", "$HOME *"]], program)

    def test_empty(self) -> None:
        """One that is empty or only blanks is none."""
        for program, name, variable in self.variables():
            for value in ("", "  "):
                self.assertEqual(self.run_list(program, name, {variable: value})[1], 0)

    def test_errors(self) -> None:
        """What is wrong in it is told in one line with the variable's name; other commands do not read it."""
        for program, name, variable in self.variables():
            _cli, status, err = self.run_list(program, name, {variable: "-o 'name"})
            self.assertEqual((status, err.count("\n")), (ExitCode.FAILURE, 1), err)
            self.assertIn(variable, err)
            _cli, status, err = self.run_list(program, name, {variable: "--no-such-option"})
            self.assertEqual((status, err.count("\n")), (ExitCode.USAGE, 1), err)
            self.assertIn(variable, err)
            _cli, status, _err = self.run_list(program, "list-fields", {variable: "-o 'name"}, "--help")
            self.assertEqual(status, 0)

    def test_not_others(self) -> None:
        """A command without one takes no words from elsewhere."""
        for program, name, command, fact in commands():
            if not fact["env_default_args"]:
                variable = f"{program}_{name}".upper().replace("-", "_")
                try:
                    parse(program, name, command, [], {variable: "--no-such-option"})
                except UsageError as error:
                    self.assertNotIn("--no-such-option", str(error))
