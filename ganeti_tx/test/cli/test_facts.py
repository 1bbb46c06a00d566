"""Tests of the declared options against the Ganeti 3.0 command line table, both ways."""

import json
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.main import program_named
from ganeti_tx.cli.options import COMMON, Command, Option
from ganeti_tx.cli.parsing import option_parser, parse
from ganeti_tx.cli.program import load

FACTS = json.loads((Path(__file__).parent / "facts" / "cli.json").read_text())

#: Commands that older designs ask for or name, which Ganeti 3 has elsewhere or not at all.
OLD_COMMANDS = {"gnt-cluster": {"export-config"}, "gnt-node": {"group-add", "group-del", "group-list", "group-rename"}}
#: Arguments that Ganeti 3 does not take: groups, all of which may be left out (design-2.3, "Node groups"); more jobs than one.
OWN_ARGUMENTS = {("gnt-os", "diagnose"): [(0, None, ())], ("gnt-job", "watch"): [(0, None, ())]}
#: Commands that Ganeti 3.0 does not have.
OURS = {"gnt-network": {"rename"}}
SAMPLES = {
    "bool": ("yes", True),
    "filteraction": ("RATE_LIMIT 2", ["RATE_LIMIT", 2]),
    "identkeyval": ("0:a=1,no_b", ("0", {"a": "1", "b": False})),
    "float": ("1.5", 1.5),
    "int": ("17", 17),
    "json": ('[["jobid", null]]', [["jobid", None]]),
    "keyprivateval": ("a=1", {"a": "1"}),
    "keyval": ("a=1,-b", {"a": "1", "b": None}),
    "list": ("a,b", ["a", "b"]),
    "maybefloat": ("1.5", 1.5),
    "multilistidentkeyval": ("min:a=1/max:a=2", [{"min": {"a": "1"}, "max": {"a": "2"}}]),
    "string": ("text", "text"),
    "unit": ("1g", 1024),
}


def commands() -> list[tuple[str, str, Command, dict[str, Any]]]:
    """Each subcommand of the table with what is declared for it."""
    return [
        (program, name, load(program_named(program).commands[name]), fact)
        for program, table in FACTS["commands"].items()
        for name, fact in table["subcommands"].items()
    ]


def declared(command: Command) -> dict[tuple[str, ...], Option]:
    """The options of a command by their spellings, without those that it says are not Ganeti's."""
    return {tuple(sorted(option.flags)): option for option in command.options if not option.own}


def spellings(fact: dict[str, Any]) -> tuple[str, ...]:
    """How an option of the table may be written."""
    return tuple(sorted([*fact["short"], *fact["long"]]))


class OptionTableTests(SynchronousTestCase):
    """Scripts written for Ganeti 3 find every option as they know it."""

    def test_same_commands(self) -> None:
        """Every command of the table copy is there, and none besides; so are the aliases."""
        for program, table in FACTS["commands"].items():
            here = set(program_named(program).commands) - OLD_COMMANDS.get(program, set()) - OURS.get(program, set())
            self.assertEqual(here, set(table["subcommands"]), program)
            self.assertEqual(program_named(program).aliases, table["aliases"], program)

    def test_same_options(self) -> None:
        """A command has exactly the options of the table."""
        for program, name, command, fact in commands():
            wanted = {spellings(option) for option in fact["options"]}
            self.assertEqual(set(declared(command)), wanted, f"{program} {name}")

    def test_same_meaning(self) -> None:
        """Destination, action, type, default, choices and constants are those of the table."""
        for program, name, command, fact in commands():
            options = declared(command)
            for wanted in fact["options"]:
                self._compare(options[spellings(wanted)], wanted, f"{program} {name} {wanted['long']}")

    def test_same_common_options(self) -> None:
        """The options of every command are those of the table."""
        for option, wanted in zip(COMMON, FACTS["common_options"], strict=True):
            self._compare(option, wanted, wanted["long"][0])

    def _compare(self, option: Option, wanted: dict[str, Any], where: str) -> None:
        self.assertEqual(tuple(sorted(option.flags)), spellings(wanted), where)
        self.assertEqual(option.dest, wanted["dest"], where)
        self.assertEqual(option.action, wanted["action"], where)
        self.assertEqual(option.takes, wanted.get("type"), where)
        self.assertEqual(option.default, wanted.get("default"), where)
        self.assertEqual(set(option.choices), set(wanted.get("choices", ())), where)
        const = list(option.const) if isinstance(option.const, tuple) else option.const
        self.assertEqual(const, wanted.get("const"), where)

    def test_every_option_is_read(self) -> None:
        """Each spelling of each option is accepted, and its value reaches the destination in its type."""
        for program, name, command, fact in commands():
            for option in fact["options"]:
                for flag in (*option["short"], *option["long"]):
                    self._read(program, name, command, option, flag)

    def _read(self, program: str, name: str, command: Command, option: dict[str, Any], flag: str) -> None:
        words, value = [flag], {"store_true": True, "store_false": False}.get(option["action"], option.get("const"))
        if option["takes_value"]:
            text, value = SAMPLES.get(option["type"]) or (option["choices"][0], option["choices"][0])
            words.append(text)
        if option["action"] == "callback":
            value = {"low": 10, "normal": 0, "high": -10}[option["choices"][0]]
        expected = [value] if option["action"] == "append" else value
        found, _arguments = option_parser(program, name, command).parse_args(words)
        seen = getattr(found, option["dest"])
        self.assertEqual(list(seen) if isinstance(expected, list) else seen, expected, f"{program} {name} {flag}")

    def test_same_arguments(self) -> None:
        """A command takes as many arguments as in the table, with the same choices."""
        for program, name, command, fact in commands():
            wanted = [(each["min"], each["max"], tuple(each.get("choices", ()))) for each in fact["args"]]
            wanted = OWN_ARGUMENTS.get((program, name), wanted)
            found = [(each.least, each.most, each.choices) for each in command.arguments]
            self.assertEqual(found, wanted, f"{program} {name}")

    def test_same_environment(self) -> None:
        """The words of an environment variable stand before those typed, for the commands of the table."""
        for program, name, command, fact in commands():
            variable = fact["env_default_args"]
            self.assertEqual(command.default_args, variable, f"{program} {name}")
            if variable is not None:
                options, words = parse(program, name, command, ["b"], {variable: "--no-headers a"})
                self.assertTrue(options.no_headers)
                self.assertEqual(words, ["a", "b"])

    def test_same_columns(self) -> None:
        """The usual fields of a list are those of the table."""
        for program, name, fact in [(p, n, f) for p, n, _command, f in commands() if "default_output_fields" in f]:
            module = program_named(program).commands[name].module
            fields = __import__(f"ganeti_tx.cli.{module}", fromlist=["DEFAULT_FIELDS"]).DEFAULT_FIELDS
            self.assertEqual(list(fields), fact["default_output_fields"], f"{program} {name}")
